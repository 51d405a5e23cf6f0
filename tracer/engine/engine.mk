# The tracer's engine without what ties it to the daemon.
#
# The agent is a program of its own kind: it runs inside of others, so nothing
# of this build's flags applies to it.
AGENT_CFLAGS :=	-std=gnu11 -O2 $(WARN) -ffreestanding -fPIC -fvisibility=hidden \
		-mgeneral-regs-only -fno-stack-protector -fcf-protection=none \
		-fno-asynchronous-unwind-tables -fno-jump-tables \
		-fomit-frame-pointer -fno-builtin
AGENT_DIR :=	$(O)/obj/tracer/engine/agent

# twice: for hosts on which programs can read the bases of segments, and for
# others, such as some virtual machines
define AGENT
$(AGENT_DIR)/$(1)_agent.o: tracer/engine/agent/agent.c tracer/engine/agent/agent.h common/wire/capture.h
	@mkdir -p $$(@D)
	$$(call say,CC)$$(CC) $$(AGENT_CFLAGS) $(2) -c -o $$@ $$<

$(AGENT_DIR)/$(1)_entry.o: tracer/engine/agent/entry.S
	@mkdir -p $$(@D)
	$$(call say,AS)$$(CC) $(2) -c -o $$@ $$<

$(AGENT_DIR)/$(1).bin: $(AGENT_DIR)/$(1)_entry.o $(AGENT_DIR)/$(1)_agent.o \
    tracer/engine/agent/agent.lds
	$$(call say,LD)$$(LD) -T tracer/engine/agent/agent.lds -nostdlib --build-id=none \
	    -z noexecstack -o $$(@:.bin=.elf) $(AGENT_DIR)/$(1)_entry.o \
	    $(AGENT_DIR)/$(1)_agent.o
	$$(call say,OBJCOPY)objcopy -O binary $$(@:.bin=.elf) $$@
endef
$(eval $(call AGENT,agent,-mfsgsbase))
$(eval $(call AGENT,plain,-mno-fsgsbase))

ifeq ($(shell uname -m),x86_64)
$(O)/obj/tracer/engine/blob.o: tracer/engine/blob.S $(AGENT_DIR)/agent.bin \
    $(AGENT_DIR)/plain.bin
	$(call say,AS)$(CC) -Wa,-I$(AGENT_DIR) -c -o $@ $<
TRC_BLOB :=	$(O)/obj/tracer/engine/blob.o
TRC_LIBS :=	-lZydis
endif

trccore_SRCS :=	$(addprefix tracer/engine/,arch_none.c cfi.c clock.c event.c \
		exit_notice.c forked_child.c frame_walkers.c hooks.c inner.c \
		inject.c maps.c mem.c objsym.c patch.c probe.c registry.c \
		ringread.c target.c thread.c x86_frames.c x86_plan.c x86_regs.c x86_stub.c)
trccore_OBJS :=	$(trccore_SRCS:%.c=$(O)/obj/%.o) $(TRC_BLOB)
LIBTRCCORE :=	$(O)/obj/libtrccore.a

$(LIBTRCCORE): $(trccore_OBJS)
	@rm -f $@
	$(call say,AR)ar rcs $@ $^

$(O)/regress/helpers/trc_harness: regress/helpers/trc_harness.c \
    $(LIBTRCCORE) $(LIBCOMMON) $(SAN_OBJS)
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) -Icommon -Itracer $(ALL_LDFLAGS) -o $@ $< \
	    $(SAN_OBJS) $(LIBTRCCORE) $(LIBCOMMON) $(TRC_LIBS)
-include $(trccore_OBJS:.o=.d)
