# tracer: one process per traced session; the engine and symbols are libraries,
# as tests use them, too, and so are the timeline and inst/
include tracer/engine/engine.mk tracer/syms/syms.mk

tracer_SRCS :=	$(wildcard tracer/*.c $(addprefix tracer/,$(addsuffix /*.c,\
		base binary record probe session)))
tracer_LIBS =	$(LIBTRCCORE) $(LIBTRCSYM) $(LIBTIMELINE) $(LIBINST) $(LIBCOMMON) \
		-lseccomp -ljson-c -lsqlite3 -lm $(TRC_LIBS)
$(LIBEXEC)/tracer: $(LIBTRCCORE) $(LIBTRCSYM) $(LIBTIMELINE)

$(O)/regress/helpers/trc_rig: regress/helpers/trc_rig.c $(LIBCOMMON) \
    $(SAN_OBJS)
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) -Icommon $(ALL_LDFLAGS) -o $@ $< $(SAN_OBJS) \
	    $(LIBCOMMON) -ljson-c

# the tracer of a processor that it does not know
$(O)/regress/helpers/tracer_none: regress/helpers/tracer_none.c \
    tracer/engine/arch.h tracer/engine/arch_none.c $(LIBEXEC)/tracer
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) -Icommon $(ALL_LDFLAGS) -o $@ $< $(tracer_OBJS) \
	    $(SAN_OBJS) $(tracer_LIBS)
