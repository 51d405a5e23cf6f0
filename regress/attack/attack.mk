# what the tests in regress/attack run: programs for hostile sessions, and
# roles that have been taken over (confined like those that they replace)
comma :=	,
ATTACK_DIR :=	$(O)/regress/helpers
ATTACK_ROLES :=	rogue_netproc rogue_tlsproc rogue_debugger \
		rogue_tracer
ATTACK_PROGS :=	$(filter-out $(ATTACK_ROLES) taken, \
		$(patsubst regress/attack/%.c,%,$(wildcard regress/attack/*.c)))

$(ATTACK_PROGS:%=$(ATTACK_DIR)/%): $(ATTACK_DIR)/%: regress/attack/%.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) -std=gnu11 -D_GNU_SOURCE -g -O1 $(WARN) -o $@ $< \
	    $$(sed -n 's,^/\* flags: \(.*\) \*/$$,\1,p' $<)

$(ATTACK_DIR)/rogue_netproc: regress/attack/rogue_netproc.c \
    $(addprefix $(O)/obj/netproc/,sysfilter.o dispatch.o) $(SAN_OBJS) $(LIBCOMMON) \
    regress/attack/send.h
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) -Icommon -I. $(ALL_LDFLAGS) \
	    -Wl$(comma)--wrap=logline_open -o $@ $(filter-out %.h,$^) -lseccomp

$(ATTACK_DIR)/rogue_tlsproc: regress/attack/rogue_tlsproc.c \
    $(O)/obj/tlsproc/dispatch.o $(SAN_OBJS) $(LIBCOMMON)
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) -Icommon -I. $(ALL_LDFLAGS) -o $@ $^ -lseccomp

$(ATTACK_DIR)/rogue_debugger: regress/attack/rogue_debugger.c \
    $(addprefix $(O)/obj/debugger/,sysfilter.o dispatch.o) $(SAN_OBJS) \
    $(LIBCOMMON)
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) -Icommon -I. $(ALL_LDFLAGS) -o $@ $^ -lseccomp

$(ATTACK_DIR)/rogue_tracer: regress/attack/rogue_tracer.c \
    $(addprefix $(O)/obj/tracer/,sysfilter.o dispatch.o) $(SAN_OBJS) $(LIBCOMMON)
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) -Icommon -I. $(ALL_LDFLAGS) -o $@ $^ -lseccomp

$(ATTACK_DIR)/rogue_debugger $(ATTACK_DIR)/rogue_tracer: | \
    regress/attack/rogue_inst.h

# every role once more, from its own objects, with orders that a test gives it
TAKEN :=	$(patsubst %,$(ATTACK_DIR)/taken_%,$(filter-out parent,$(ROLES)))
TAKEN_WRAP :=	$(patsubst %,-Wl$(comma)--wrap=%,loop_init loop_run chan_open \
		chan_close \
		filter_install filter_load unpack_prepare unpack_run)
TAKEN_OBJ :=	$(O)/obj/regress/attack/taken

$(TAKEN_OBJ)_archiver.o: regress/attack/taken.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) -DTAKEN_ARCHIVER -Icommon -MMD -MP -c -o $@ $<

-include $(TAKEN_OBJ).d $(TAKEN_OBJ)_archiver.d

# the role itself comes first: it knows what else it is made of
$(TAKEN): $(ATTACK_DIR)/taken_%: $(LIBEXEC)/% $(TAKEN_OBJ).o \
    $(TAKEN_OBJ)_archiver.o
	@mkdir -p $(@D)
	$(call say,LD)$(CC) $(ALL_LDFLAGS) $(TAKEN_WRAP) -o $@ $($*_OBJS) \
	    $(TAKEN_OBJ)$(if $(filter archiver,$*),_archiver).o $(SAN_OBJS) \
	    $(LIBCOMMON) $($*_LIBS)

$(ATTACK_DIR)/rows: common/wire/msgs.def common/base/errors.def

test-bins: $(addprefix $(ATTACK_DIR)/,$(ATTACK_PROGS) $(ATTACK_ROLES)) $(TAKEN)

# the random part of it goes on for up to so many messages on each channel
BABBLE_MESSAGES ?=	10000
attack: all test-bins
	@DL_BABBLE=$(BABBLE_MESSAGES) DL_LIMIT=14400 DL_ONCE=1 \
	    DL_TESTS="regress/attack/roles.t regress/attack/blame.t \
	    regress/attack/babble.t" regress/run.sh '$(abspath $(O))'
.PHONY: attack
