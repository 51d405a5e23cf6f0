# make bench: what the daemon costs, against baselines, in one table.
# BENCH_QUICK=1: under a minute, only whether all can be measured.
# BENCH=status,upload: these figures alone (bench.py names them).
BENCH_DIR :=	$(O)/regress/bench
BENCH_NET :=	echo firsts load probe push sink starts term web
BENCH_PLAIN :=	drain pty spawn
BENCH_BINS :=	$(addprefix $(BENCH_DIR)/,$(BENCH_NET) $(BENCH_PLAIN) job ringspeed tiny traced)
BENCH_CFLAGS :=	-std=gnu11 -D_GNU_SOURCE -O2 -g $(WARN)

$(BENCH_DIR)/%.o: regress/bench/%.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(BENCH_CFLAGS) -MMD -MP -c -o $@ $<

$(BENCH_NET:%=$(BENCH_DIR)/%): $(BENCH_DIR)/loopback.o
$(addprefix $(BENCH_DIR)/,$(BENCH_NET) $(BENCH_PLAIN)): \
    $(BENCH_DIR)/%: $(BENCH_DIR)/%.o $(BENCH_DIR)/sample.o
	$(call say,LD)$(CC) -o $@ $^ $(BENCH_LIBS)

$(BENCH_DIR)/web: BENCH_LIBS := -lmicrohttpd

# sessions run these two: static, so that START is measured and not ld.so
$(BENCH_DIR)/job: regress/bench/job.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(BENCH_CFLAGS) -static -o $@ $<

# what is traced is built as a user would
$(BENCH_DIR)/traced: regress/bench/traced.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(BENCH_CFLAGS) -o $@ $<

$(BENCH_DIR)/ringspeed: regress/bench/ringspeed.c $(O)/obj/tracer/engine/ringread.o
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(BENCH_CFLAGS) -Icommon -I. -pie -fPIE -o $@ $^

$(BENCH_DIR)/tiny: regress/bench/tiny.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(WARN) -Os -static -nostdlib -ffreestanding \
	    -fno-stack-protector -fno-asynchronous-unwind-tables -fcf-protection=none \
	    -s -Wl,--build-id=none,-n -o $@ $<

-include $(patsubst %,$(BENCH_DIR)/%.d,$(BENCH_NET) $(BENCH_PLAIN) \
    loopback sample)

bench: deps-test
	@$(MAKE) --no-print-directory all $(BENCH_BINS) \
	    $(O)/regress/helpers/trc_store $(O)/regress/helpers/trc_symbols \
	    $(O)/regress/helpers/trc_harness
	@[ "$$(id -u)" -ne 0 ] || etc/service-users.sh
	@DL_BUILD='$(abspath $(O))' DL_BIN='$(abspath $(BIN))' \
	    DL_LIBEXEC='$(abspath $(LIBEXEC))' PYTHONDONTWRITEBYTECODE=1 \
	    python3 regress/bench/bench.py

.PHONY: bench
