# symbols without its channel, for tests
symcore_SRCS :=	$(filter-out symbols/main.c symbols/serve.c symbols/sysfilter.c,\
		$(wildcard symbols/*.c))
symcore_OBJS :=	$(symcore_SRCS:%.c=$(O)/obj/%.o)
LIBSYMCORE :=	$(O)/obj/libsymcore.a
symcore_LIBS :=	-lz -lzstd -liberty
symbols_LIBS :=	-lseccomp $(symcore_LIBS)

$(LIBSYMCORE): $(symcore_OBJS)
	@rm -f $@
	$(call say,AR)ar rcs $@ $^
-include $(symcore_OBJS:.o=.d)
