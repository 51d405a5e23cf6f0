# make check-valgrind: the unit tests under valgrind's memcheck.  It is for who
# asks: it takes many times as long as the tests do by themselves.
MEMCHECK_PKGS := valgrind libcmocka-dev perl python3
# what is loaded in front of them
MEMCHECK_SO :=	$(O)/regress/memcheck.so
MEMCHECK_FAULTY := $(O)/regress/memcheck_faulty
# the long ones first, so that none is left to run by itself
MEMCHECK_LONG := $(addprefix $(O)/regress/test_,trc_values ringread spawner)
MEMCHECK_BINS := $(MEMCHECK_LONG) $(filter-out $(MEMCHECK_LONG),$(UNIT_BINS))

$(MEMCHECK_SO): regress/memcheck/skip.c regress/memcheck/pidfd.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) -std=gnu11 -D_GNU_SOURCE -g -O1 $(WARN) \
	    -fPIC -shared -o $@ $^ -lcmocka

$(MEMCHECK_FAULTY): regress/memcheck/faulty.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) -std=gnu11 -D_GNU_SOURCE -g -O0 $(WARN) \
	    -o $@ $< -lcmocka

deps-valgrind:
	@etc/packages.sh $(BUILD_PKGS) $(MEMCHECK_PKGS)

# no second run: what memcheck has seen once is there
check-valgrind: deps-valgrind
	@$(MAKE) --no-print-directory $(PARALLEL) all $(UNIT_BINS) $(HELPERS) \
	    $(MEMCHECK_SO) $(MEMCHECK_FAULTY)
	@DL_ONCE=1 DL_EXEC=regress/memcheck/memcheck.py \
	    DL_LIMIT="$${DL_LIMIT:-3600}" DL_TESTS="$${DL_TESTS:-$(strip \
	    regress/memcheck/memcheck.t \
	    $(MEMCHECK_BINS:$(O)/%=$(abspath $(O))/%))}" \
	    regress/run.sh '$(abspath $(O))'

.PHONY: deps-valgrind check-valgrind
