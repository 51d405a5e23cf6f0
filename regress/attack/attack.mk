# what the tests in regress/attack run: programs for hostile sessions, and
# roles that have been taken over (confined like those that they replace)
ATTACK_DIR :=	$(O)/regress/helpers
ATTACK_ROLES :=	rogue_netproc rogue_tlsproc rogue_debugger \
		rogue_tracer
ATTACK_PROGS :=	$(filter-out $(ATTACK_ROLES), \
		$(patsubst regress/attack/%.c,%,$(wildcard regress/attack/*.c)))

$(ATTACK_PROGS:%=$(ATTACK_DIR)/%): $(ATTACK_DIR)/%: regress/attack/%.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -D_GNU_SOURCE -g -O1 $(WARN) -o $@ $< \
	    $$(sed -n 's,^/\* flags: \(.*\) \*/$$,\1,p' $<)

$(ATTACK_DIR)/rogue_netproc: regress/attack/rogue_netproc.c \
    netproc/sysfilter.c $(O)/obj/netproc/dispatch.o $(SAN_OBJS) $(LIBCOMMON)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -Icommon -I. $(ALL_LDFLAGS) -o $@ $^ -lseccomp

$(ATTACK_DIR)/rogue_tlsproc: regress/attack/rogue_tlsproc.c \
    $(O)/obj/tlsproc/dispatch.o $(SAN_OBJS) $(LIBCOMMON)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -Icommon -I. $(ALL_LDFLAGS) -o $@ $^ -lseccomp

$(ATTACK_DIR)/rogue_debugger: regress/attack/rogue_debugger.c \
    debugger/sysfilter.c $(O)/obj/debugger/dispatch.o $(SAN_OBJS) \
    $(LIBCOMMON)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -Icommon -I. $(ALL_LDFLAGS) -o $@ $^ -lseccomp

$(ATTACK_DIR)/rogue_tracer: regress/attack/rogue_tracer.c \
    tracer/sysfilter.c $(O)/obj/tracer/dispatch.o $(SAN_OBJS) $(LIBCOMMON)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -Icommon -I. $(ALL_LDFLAGS) -o $@ $^ -lseccomp

$(ATTACK_DIR)/rogue_debugger $(ATTACK_DIR)/rogue_tracer: | \
    regress/attack/rogue_inst.h

$(ATTACK_DIR)/rows: common/msgs.def common/errors.def

test-bins: $(addprefix $(ATTACK_DIR)/,$(ATTACK_PROGS) $(ATTACK_ROLES))
