# the debugger's engine without what ties it to the daemon, for tests
dbgcore_SRCS :=	$(filter-out debugger/main.c debugger/base/link.c \
		debugger/base/hostpid.c debugger/sysfilter.c,\
		$(wildcard debugger/*.c debugger/*/*.c))
dbgcore_OBJS :=	$(dbgcore_SRCS:%.c=$(O)/obj/%.o)
LIBDBGCORE :=	$(O)/obj/libdbgcore.a

$(LIBDBGCORE): $(dbgcore_OBJS)
	@rm -f $@
	$(call say,AR)ar rcs $@ $^

$(O)/regress/helpers/dbg_harness: regress/helpers/dbg_harness.c \
    $(LIBDBGCORE) $(LIBCOMMON) $(SAN_OBJS)
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) -Icommon -I. $(ALL_LDFLAGS) -o $@ $< \
	    $(SAN_OBJS) $(LIBDBGCORE) $(LIBINST) $(LIBCOMMON) -ljson-c -lnettle
-include $(dbgcore_OBJS:.o=.d)
