# tracer: one process per traced session
tracer_SRCS :=	tracer/main.c tracer/link.c
tracer_LIBS :=	$(LIBTRCCORE) $(LIBTRCSTORE) $(LIBTRCSYM) $(LIBCOMMON) \
		-lseccomp -ljson-c -lsqlite3 $(TRC_LIBS)
$(LIBEXEC)/tracer: $(LIBTRCCORE) $(LIBTRCSTORE) $(LIBTRCSYM)
