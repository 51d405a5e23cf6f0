# debuglanternctl; a kept timeline is read here, by what a tracer reads its own with
client/ctl_LIBS :=	$(LIBCLIENT) $(O)/obj/libtimeline.a \
		$(LIBCOMMON) -ljson-c -lbsd -lnettle \
		-lavahi-client -lavahi-common -ltls -lsqlite3 -lm
$(BIN)/debuglanternctl: $(LIBCLIENT) $(O)/obj/libtimeline.a
