# inst: what the processes beside a session have in common, a library of the
# debugger and the tracer
inst_SRCS :=	$(wildcard inst/*.c)
inst_OBJS :=	$(inst_SRCS:%.c=$(O)/obj/%.o)
LIBINST :=	$(O)/obj/libinst.a

$(LIBINST): $(inst_OBJS)
	@rm -f $@
	$(call say,AR)ar rcs $@ $^
$(LIBEXEC)/debugger $(LIBEXEC)/tracer $(O)/regress/helpers/dbg_harness \
    $(O)/regress/helpers/tracer_none: $(LIBINST)
-include $(inst_OBJS:.o=.d)
