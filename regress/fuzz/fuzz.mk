# Fuzz targets: regress/fuzz/README.md.  The first lines of one say what it is
# made of, and which sources its corpus must reach:
#   /* links: netproc/text/line.c common/wire/proto.c */
#   /* covers: netproc/text/line.c */
TIME ?=		60
FUZZ_TIME ?=	$(TIME)
export FUZZ_ONLY
FUZZ_CC ?=	clang
FUZZ_CFLAGS :=	-std=gnu11 -D_GNU_SOURCE -g -O1 -Wall \
		-Werror=implicit-function-declaration -DDL_VERSION='"fuzz"' \
		-DUNPACKED_MAX=1048576 -Icommon -I. -Isetup/conf -Isymbols -Itracer
FUZZ_LIBS :=	$(LIBWEB) -lseccomp -luuid -lsodium -ljson-c -lmicrohttpd \
		-lwslay -lnettle -lcrypto -ltls -larchive -lsqlite3 -lz -lzstd \
		-liberty -lZydis -lbsd -lavahi-common
FUZZ_NAMES :=	$(patsubst regress/fuzz/fuzz_%.c,%,\
		$(sort $(wildcard regress/fuzz/fuzz_*.c)))
# as many at a time as there are processors
FUZZ_JOBS ?=	$(shell nproc)

comma :=	,
# Calls that fail in targets which ask for it: fuzz_fault.h.
FUZZ_FAULTS :=	malloc calloc realloc sendmsg recvmsg send recv fcntl \
		socketpair epoll_ctl read write pread fstat openat flock \
		fsync renameat mkdir pwrite
FUZZ_WRAPS :=	$(FUZZ_FAULTS:%=-Wl$(comma)--wrap=%)
FUZZ_FAULTY :=	$(patsubst regress/fuzz/fuzz_%.c,%,$(shell grep -l \
		'^.define FUZZ_FAULT$$' regress/fuzz/fuzz_*.c))

# $(1) directory, $(2) name: the objects of a target; sources are
# compiled once for all of them
fuzz_OBJS =	$(patsubst %.c,$(1)/obj/%.o,$(patsubst conf.tab.c,setup/conf/conf.tab.c,\
		$(foreach w,$(filter %.c,$(shell regress/links.sh \
		regress/fuzz/fuzz_$(2).c)),$(if $(filter conf.tab.c,$(w)),$(w),\
		$(wildcard $(w))))))

.SECONDEXPANSION:
define FUZZ_RULES
$(1)/obj/setup/conf/conf.tab.o: $(O)/gen/conf.tab.c
	@mkdir -p $$(@D)
	$$(call say,CC)$(FUZZ_CC) $(FUZZ_CFLAGS) $(2) -MMD -MP -c -o $$@ $$<

$(1)/obj/%.o: %.c
	@mkdir -p $$(@D)
	$$(call say,CC)$(FUZZ_CC) $(FUZZ_CFLAGS) $(2) -MMD -MP -c -o $$@ $$<

$(1)/fuzz_%: $(1)/obj/regress/fuzz/fuzz_%.o $$$$(call fuzz_OBJS,$(1),$$$$*) $(LIBWEB)
	@mkdir -p $$(@D)
	$$(call say,LD)$(FUZZ_CC) $(subst -no-link,,$(2)) $$(if $$(filter $$*,$(FUZZ_FAULTY)),\
	    $$(FUZZ_WRAPS)) -o $$@ $$(filter %.o,$$^) $(FUZZ_LIBS)

.PRECIOUS: $(1)/obj/%.o
-include $$(wildcard $(1)/obj/*/*.d $(1)/obj/*/*/*.d $(1)/obj/*/*/*/*.d)
endef
FUZZ_SAN :=	-fsanitize=fuzzer-no-link,address,undefined \
		-fno-sanitize-recover=undefined
FUZZ_COV :=	-fsanitize=fuzzer-no-link -fprofile-instr-generate \
		-fcoverage-mapping
$(eval $(call FUZZ_RULES,$(O)/fuzz,$(FUZZ_SAN)))
$(eval $(call FUZZ_RULES,$(O)/fuzz-cov,$(FUZZ_COV)))

fuzz-bins: $(FUZZ_NAMES:%=$(O)/fuzz/fuzz_%)
fuzz-cov-bins: $(FUZZ_NAMES:%=$(O)/fuzz-cov/fuzz_%)

fuzz:
	@$(MAKE) --no-print-directory $(PARALLEL) fuzz-bins
	@regress/fuzz/run.sh $(O)/fuzz $(FUZZ_TIME) $(FUZZ_JOBS)

# takes what inputs below $(FROM), or those of a long run, add to the corpus
fuzz-merge: fuzz-bins
	@regress/fuzz/merge.sh $(O)/fuzz $(or $(FROM),$(O)/fuzz/found)

# each parser's lines that the corpus reaches
fuzz-coverage:
	@etc/packages.sh clang libclang-rt-$(LLVM)-dev llvm
	@$(MAKE) --no-print-directory $(PARALLEL) fuzz-cov-bins
	@regress/fuzz/coverage.py $(O)/fuzz-cov

.PHONY: fuzz fuzz-bins fuzz-cov-bins fuzz-merge fuzz-coverage
