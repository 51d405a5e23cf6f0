# make soak: many clients of several users for a long time.  soak.py says what
# is looked at and what counts as a failure.
# SOAK_TIME=600 seconds; SOAK_CONNECTIONS=2000, SOAK_SOCKETS=500 and
# SOAK_SESSIONS=200 of all users together.
SOAK_TIME ?=	600
SOAK_CONNECTIONS ?= 2000
SOAK_SOCKETS ?=	500
SOAK_SESSIONS ?= 200
SOAK_DIR :=	$(O)/regress/soak

# sessions run it: static, for it is all that they have
$(SOAK_DIR)/chatter: regress/soak/chatter.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) -std=gnu11 -D_GNU_SOURCE -O2 -g $(WARN) -static -o $@ $<

soak: deps-test
	@$(MAKE) --no-print-directory all $(BENCH_DIR)/probe $(SOAK_DIR)/chatter
	@[ "$$(id -u)" -ne 0 ] || etc/service-users.sh
	@DL_BUILD='$(abspath $(O))' DL_BIN='$(abspath $(BIN))' \
	    DL_LIBEXEC='$(abspath $(LIBEXEC))' PYTHONDONTWRITEBYTECODE=1 \
	    python3 regress/soak/soak.py $(SOAK_TIME) $(SOAK_CONNECTIONS) \
	    $(SOAK_SOCKETS) $(SOAK_SESSIONS)

.PHONY: soak
