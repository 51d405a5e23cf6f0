# debuglanternctl; a kept timeline is read here, by what a tracer reads its own with
client/ctl_LIBS :=	$(LIBCLIENT) $(O)/obj/libtrcsym.a $(O)/obj/libtrcstore.a \
		$(LIBCOMMON) -ljson-c -lbsd -lnettle \
		-lavahi-client -lavahi-common -ltls -lsqlite3 -lm
$(BIN)/debuglanternctl: $(LIBCLIENT) $(O)/obj/libtrcsym.a $(O)/obj/libtrcstore.a
