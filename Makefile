# debuglantern: build, run, test, install.  `make help` lists the targets.

O ?=		build
PREFIX ?=	/usr/local
DESTDIR ?=
SYSCONFDIR ?=	/etc
LIBEXECDIR ?=	$(PREFIX)/libexec/debuglantern
VERSION :=	0.1.0

CC ?=		cc
BISON ?=	bison
PKG_CONFIG ?=	pkg-config

WARN :=		-Wall -Wextra -Wconversion -Wformat=2 -Wshadow \
		-Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition \
		-Wimplicit-fallthrough -Werror=format-security
ifeq ($(CI),true)
WARN +=		-Werror
endif
# what this compiler and this machine know of the flags that OpenSSF recommends;
# a compiler that has none of them builds all the same.  Some define
# _FORTIFY_SOURCE by themselves: it is taken back in any case.
PROBED :=	$(shell for flag in -Wtrampolines -Wbidi-chars=any \
		-Werror=implicit -Werror=incompatible-pointer-types \
		-Werror=int-conversion -fstack-protector-strong \
		-fstack-clash-protection -fcf-protection=full \
		-mbranch-protection=standard -ftrivial-auto-var-init=zero \
		-fstrict-flex-arrays=3 -fno-delete-null-pointer-checks \
		-fno-strict-overflow -fno-strict-aliasing \
		-fzero-init-padding-bits=all; do \
		echo 'int main(void) { return 0; }' | $(CC) -Werror -O2 $$flag \
		    -x c -S -o /dev/null - 2>/dev/null && echo $$flag; done)
HARDEN :=	-fPIE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 $(PROBED)
CFLAGS ?=	-O2 -g
# `make SANITIZE=1 O=build-asan` builds with the address and UB sanitizers
ifdef SANITIZE
SAN :=		-fsanitize=address,undefined -fno-sanitize-recover=undefined \
		-fno-omit-frame-pointer
HARDEN :=	-fstack-protector-strong -fPIE
SAN_OBJS =	$(O)/obj/regress/sanitize.o
endif
# the same sources are the same binaries, wherever they were built; of two
# that fit, the last counts
PATHS :=	-ffile-prefix-map='$(CURDIR)'=. \
		-ffile-prefix-map='$(abspath $(O))'=build
ALL_CFLAGS :=	-std=gnu11 -D_GNU_SOURCE -DDL_VERSION='"$(VERSION)"' \
		$(WARN) $(HARDEN) $(PATHS) $(CFLAGS) $(SAN)
ALL_LDFLAGS :=	-pie -Wl,-z,relro,-z,now,-z,noexecstack -Wl,--as-needed \
		$(LDFLAGS) $(SAN)

# A step prints one short line, and `make V=1` its commands.
# $(1) what is done, $(2) to what, if not to the target
ifneq ($(V),1)
.SILENT:
ifeq ($(findstring s,$(firstword -$(MAKEFLAGS))),)
say =		printf '  %-7s %s\n' $(1) \
		'$(patsubst obj/%,%,$(patsubst $(O)/%,%,$(or $(2),$@)))';
endif
endif

ROLES :=	parent logger netproc spawner launcher archiver announcer idproc tlsproc acctproc \
		debugger tracer symbols
BIN :=		$(O)/bin
LIBEXEC :=	$(O)/libexec/debuglantern

all: $(BIN)/debuglanternd $(BIN)/debuglanternctl $(BIN)/debugger \
	$(BIN)/debuglantern-mcp \
	$(ROLES:%=$(LIBEXEC)/%)

help:
	@echo 'make            build into $(O)/; V=1 shows the commands'
	@echo 'make WEB=no     the same without the web page, for which node is needed'
	@echo 'make run        install what is missing (as root), build, start'
	@echo 'make check      build and run every test'
	@echo 'make check-fast the unit tests and some of each role, in about a minute'
	@echo 'make check-asan the same, built with sanitizers into $(O)-asan/'
	@echo 'make check-kernel  under Linux KERNEL=6.1 or 6.12, on an emulated processor'
	@echo 'make check-valgrind  the unit tests under valgrind: values, memory, descriptors'
	@echo 'make bench      measure against baselines, print a table'
	@echo 'make soak       many clients of eight users for SOAK_TIME=600 seconds (as root)'
	@echo 'make field      compare with bare hosts, gdb and untraced runs, on packages (as root)'
	@echo 'make attack     what roles that were taken over try and say, at length'
	@echo 'make fuzz       run every fuzz target (TIME seconds each)'
	@echo 'make fuzz-coverage  the lines of each parser that the corpora reach'
	@echo 'make faults     every call fails, each process is killed at each message (hours)'
	@echo 'make install    install below DESTDIR and PREFIX'
	@echo 'make deb        a Debian package, below $(O)/deb'
	@echo 'make check-deb  install, drive, upgrade and purge it in a Debian of its own'
	@echo 'make docs       write docs/MESSAGES.md anew from the message table'
	@echo 'make filters    write regress/filters/*.pfc anew from the roles'\'' tables'
	@echo 'make format     lay changed lines out with clang-format'
	@echo 'make lint       man pages, scripts, spelling, sentences, subjects of commits,'
	@echo '                what directories of a role use of each other'
	@echo 'make static     analyzers: gcc, clang-tidy, cppcheck and what make check runs'
	@echo 'make sbom       what the programs are made of: $(O)/debuglantern.spdx.json'
	@echo 'make evidence   a report of all that a reviewer can check: $(O)/evidence.md'
	@echo 'make coverage   what part of each directory the tests pass through'
	@echo 'make reproducible  two builds in two places are the same'
	@echo 'make clean      remove $(O)/'
	@echo
	@echo 'of check and what runs tests:'
	@echo '  DL_TESTS=     these files instead of all; DL_ONLY=WORD these functions'
	@echo '  DL_JOBS=2     files at a time; DL_LIMIT=1800 seconds for each'
	@echo '  DL_ONCE=1     what fails beside others gets no second run alone'
	@echo '  DL_LOG=FILE   all that was said; MUST_WORK=1 a skip is a failure'
	@echo 'of check-kernel:  KERNEL=6.1 CPU=max CPUS=2 MEMORY=5G of the guest;'
	@echo '             BOOT=ipv6.disable=1 words for its kernel; COMMAND= instead of tests'
	@echo 'of soak:     SOAK_TIME=600 seconds; SOAK_CONNECTIONS=2000 SOAK_SOCKETS=500'
	@echo '             SOAK_SESSIONS=200 of all users together'
	@echo 'of field:    FIELD_PARTS=  sessions traced suites values calls stops, some of them; FIELD_SEED=1 another choice, FIELD_ALL=1 all'
	@echo 'of static:   DL_STATIC=  gcc tidy cppcheck shell man spell plain subjects wings tcb, some of them'
	@echo 'of evidence: DL_PARTS=   messages filters rights calls binaries units sbom'
	@echo '                         fuzz coverage, some of them'
	@echo '             DL_DRIVE=   the tests by which calls are counted'

# --- common ------------------------------------------------------------
common_SRCS :=	$(filter-out common/wire/dispatch.c,$(wildcard common/*/*.c))
common_OBJS :=	$(common_SRCS:%.c=$(O)/obj/%.o)
LIBCOMMON :=	$(O)/obj/libcommon.a

$(LIBCOMMON): $(common_OBJS)
	@rm -f $@
	$(call say,AR)ar rcs $@ $^

$(O)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) -Icommon -I. -MMD -MP -c -o $@ $<

# --- one binary per role -----------------------------------------------
parent_LIBS :=	-lseccomp
netproc_LIBS :=	-lseccomp -ljson-c -lsodium -lmicrohttpd -lwslay -lnettle
spawner_LIBS :=	-lseccomp -luuid -lsodium
launcher_LIBS := -lseccomp
idproc_LIBS :=	-lseccomp
acctproc_LIBS := -lseccomp
logger_LIBS :=	-lseccomp
tlsproc_LIBS :=	-lseccomp -ltls -lcrypto
announcer_LIBS := -lseccomp -lavahi-client -lavahi-common
archiver_LIBS := -lseccomp -larchive
-include $(wildcard */*.mk)
# its own name: without it there is no netproc
include web/web.mk
netproc_LIBS +=	$(LIBWEB)

# $(1) directory, $(2) binary, $(3) SELF_ROLE or empty
define PROGRAM
$(1)_SRCS ?=	$$(wildcard $(1)/*.c)
$(1)_OBJS :=	$$($(1)_SRCS:%.c=$$(O)/obj/%.o) \
		$(if $(3),$$(O)/obj/$(1)/dispatch.o)
$(if $(3),$$(O)/obj/$(1)/dispatch.o: common/wire/dispatch.c
	@mkdir -p $$(@D)
	$$(call say,CC)$$(CC) $$(ALL_CFLAGS) -DSELF_ROLE=$(3) -Icommon \
	    -MMD -MP -c -o $$@ $$<)

$(2): $$($(1)_OBJS) $$(SAN_OBJS) $$(LIBCOMMON)
	@mkdir -p $$(@D)
	$$(call say,LD)$$(CC) $$(ALL_LDFLAGS) -o $$@ $$($(1)_OBJS) $$(SAN_OBJS) \
	    $$(LIBCOMMON) $$($(1)_LIBS)
	@chmod 755 $$@
-include $$($(1)_OBJS:.o=.d)
endef

$(eval $(call PROGRAM,setup,$(BIN)/debuglanternd,SETUP))
$(eval $(call PROGRAM,parent,$(LIBEXEC)/parent,PARENT))
$(eval $(call PROGRAM,client/ctl,$(BIN)/debuglanternctl,))
$(eval $(call PROGRAM,client/debugger,$(BIN)/debugger,))
$(eval $(call PROGRAM,client/mcp,$(BIN)/debuglantern-mcp,))
$(eval $(call PROGRAM,netproc,$(LIBEXEC)/netproc,NETPROC))
$(eval $(call PROGRAM,spawner,$(LIBEXEC)/spawner,SPAWNER))
$(eval $(call PROGRAM,launcher,$(LIBEXEC)/launcher,LAUNCHER))
$(eval $(call PROGRAM,announcer,$(LIBEXEC)/announcer,ANNOUNCER))
$(eval $(call PROGRAM,idproc,$(LIBEXEC)/idproc,IDPROC))
$(eval $(call PROGRAM,tlsproc,$(LIBEXEC)/tlsproc,TLSPROC))
$(eval $(call PROGRAM,logger,$(LIBEXEC)/logger,LOGGER))
$(eval $(call PROGRAM,acctproc,$(LIBEXEC)/acctproc,ACCTPROC))
$(eval $(call PROGRAM,archiver,$(LIBEXEC)/archiver,))
$(eval $(call PROGRAM,debugger,$(LIBEXEC)/debugger,DEBUGGER))
$(eval $(call PROGRAM,tracer,$(LIBEXEC)/tracer,TRACER))
$(eval $(call PROGRAM,symbols,$(LIBEXEC)/symbols,SYMBOLS))
$(LIBEXEC)/netproc: $(LIBWEB)
-include $(common_OBJS:.o=.d)

# --- packages ----------------------------------------------------------
BUILD_PKGS :=	gcc make bison pkg-config libbsd-dev libseccomp-dev uuid-dev \
		libsodium-dev libtls-dev libssl-dev libjson-c-dev libarchive-dev \
		libavahi-client-dev libmicrohttpd-dev libwslay-dev nettle-dev libsqlite3-dev libzydis-dev \
		zlib1g-dev libzstd-dev libiberty-dev gdbserver $(WEB_PKGS)
# Debian 12 has clang 14 by default, Debian 13 has 19
LLVM :=		$(shell . /etc/os-release && [ "$$VERSION_ID" != 12 ] && echo 19 || echo 14)
TEST_PKGS :=	libcmocka-dev gdb python3 perl avahi-daemon avahi-utils dbus \
		iproute2 util-linux clang libclang-rt-$(LLVM)-dev clang-tidy cppcheck mandoc shellcheck \
		bubblewrap delve g++ golang-go ocaml-nox rustc binutils dwz lldb-19 python3-debugpy \
		libc6-dev-arm64-cross \
		zip xz-utils zstd systemd git openssl codespell \
		openssh-client openssh-server zsh \
		vim nano less tmux htop procps uftrace $(WEB_TEST_PKGS)

COV :=		$(abspath $(O))-cov
EVIDENCE_PKGS := clang-$(LLVM) llvm-$(LLVM) libclang-rt-$(LLVM)-dev
# mapped from the start: who has no rights any more counts as well
COUNTERS :=	-fprofile-instr-generate -fcoverage-mapping \
		-mllvm -runtime-counter-relocation
LINT_PKGS :=	codespell shellcheck mandoc
STATIC_PKGS :=	clang-tidy clang-format cppcheck $(LINT_PKGS)

# as many at a time as there are processors, unless make has been told
PARALLEL =	$(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

deps:
	@etc/packages.sh $(BUILD_PKGS)

deps-test:
	@etc/packages.sh $(BUILD_PKGS) $(TEST_PKGS)
	@regress/redis.sh >/dev/null
	@regress/field/suites.sh zlib >/dev/null

# --- run from the build tree -------------------------------------------
run: deps
	@$(MAKE) --no-print-directory $(PARALLEL) all
	@etc/run.sh $(BIN)

# --- tests -------------------------------------------------------------
UNIT_SRCS :=	$(wildcard regress/unit/test_*.c)
UNIT_BINS :=	$(UNIT_SRCS:regress/unit/%.c=$(O)/regress/%)
HELPER_SRCS :=	$(wildcard regress/helpers/*.c)
HELPERS :=	$(HELPER_SRCS:regress/helpers/%.c=$(O)/regress/helpers/%)

# A unit test names what it needs of a role in its first lines, a directory
# for all of its sources.  The built objects are linked: only the test itself
# is compiled.
#   /* links: spawner/ !spawner/main.c */
UNIT_OBJ :=	$(O)/obj/regress/unit
UNIT_LIBS :=	-lcmocka -lseccomp -luuid -lsodium -ljson-c -lmicrohttpd -lwslay -lnettle \
		-lcrypto -lsqlite3 -lm -lz -lzstd -liberty
unit_WORDS =	$(shell regress/links.sh regress/unit/$(1).c)
unit_OBJS =	$(foreach w,$(call unit_WORDS,$(1)),$(patsubst %,$(O)/obj/%.o,\
		$(basename $(filter %.o,$(w)) $(wildcard $(filter %.c,$(w))))))

$(UNIT_OBJ)/%.o: regress/unit/%.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) -Wno-missing-prototypes -Icommon -I. \
	    -DTOPDIR='"$(CURDIR)"' -MMD -MP -c -o $@ $<

# words are looked up only for a test that is asked for
.SECONDEXPANSION:
$(O)/regress/test_%: $(UNIT_OBJ)/test_%.o $$(call unit_OBJS,test_$$*) \
    $$(LIBCONF) $(LIBCOMMON) $(LIBWEB)
	@mkdir -p $(@D)
	$(call say,LD)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) \
	    $(filter -%,$(call unit_WORDS,test_$*)) $(LIBCONF) $(LIBCOMMON) \
	    $(LIBWEB) $(UNIT_LIBS)
.SECONDARY: $(UNIT_BINS:$(O)/regress/%=$(UNIT_OBJ)/%.o)
-include $(UNIT_BINS:$(O)/regress/%=$(UNIT_OBJ)/%.d)

# programs for sessions to run: static, small, hostile, or all of these
$(O)/regress/helpers/%: regress/helpers/%.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) -std=gnu11 -D_GNU_SOURCE -g -O1 -Wall -Wextra -o $@ $< \
	    $$(sed -n 's,^/\* flags: \(.*\) \*/$$,\1,p' $<)

$(O)/regress/helpers/msgtable: common/wire/msgs.def common/wire/msg.h common/wire/msg.c

include regress/mcp/mcp.mk
test-bins: $(UNIT_BINS) $(HELPERS) $(WEB_TEST) $(MCP_TEST)

check: deps-test
	@$(MAKE) --no-print-directory $(PARALLEL) all test-bins fuzz-bins
	@regress/run.sh '$(abspath $(O))'

# what a change broke, in about a minute: regress/fast names the files
check-fast:
	@$(MAKE) --no-print-directory $(PARALLEL) all test-bins
	@DL_JOBS=$${DL_JOBS:-4} DL_TESTS="$$(sed -n 's,^\(regress/[^	]*\).*,\1,p' \
	    regress/fast) $(strip $(UNIT_BINS:$(O)/%=$(abspath $(O))/%))" \
	    regress/run.sh '$(abspath $(O))'

check-asan: deps-test
	@$(MAKE) --no-print-directory $(PARALLEL) SANITIZE=1 O=$(O)-asan all test-bins
	@regress/run.sh '$(abspath $(O)-asan)'

-include etc/install.mk
-include etc/deb.mk
-include regress/attack/attack.mk
-include regress/filters/filters.mk
-include regress/faults/faults.mk
-include regress/kernels/kernels.mk
-include regress/fuzz/fuzz.mk
-include regress/bench/bench.mk
-include regress/soak/soak.mk
-include regress/field/field.mk
-include regress/memcheck/memcheck.mk

# what the programs are made of, in SPDX
sbom: all
	$(call say,GEN,debuglantern.spdx.json)etc/sbom.py $(VERSION) $(BIN) \
	    $(LIBEXEC) $(if $(filter no,$(WEB)),--no-web) >$(O)/debuglantern.spdx.json

docs: $(O)/regress/helpers/msgtable
	$(call say,GEN,docs/MESSAGES.md)$(O)/regress/helpers/msgtable >docs/MESSAGES.md

# --- evidence ------------------------------------------------------------
# the report of everything that can be checked by a command
evidence: deps-test
	@etc/packages.sh $(EVIDENCE_PKGS)
	@$(MAKE) --no-print-directory $(PARALLEL) all test-bins
	@regress/evidence/evidence.sh '$(abspath $(O))' >$(O)/evidence.md; \
		r=$$?; echo 'the report is $(O)/evidence.md'; exit $$r

# how much of each directory a part of the tests passes through; roles are
# started without an environment, so the file of counters is named by a symbol
coverage: deps-test
	@etc/packages.sh $(EVIDENCE_PKGS)
	@mkdir -p $(COV)
	@echo 'const char __llvm_profile_filename[] =' \
	    '"$(COV)/coverage/%m.profraw%c";' | \
	    clang-$(LLVM) -c -x c -o $(COV)/counters.o -
	@$(MAKE) --no-print-directory $(PARALLEL) O=$(COV) CC=clang-$(LLVM) \
	    WARN=-w CFLAGS='-O1 -g $(COUNTERS)' \
	    LDFLAGS='-fprofile-instr-generate $(COV)/counters.o' \
	    all test-bins >/dev/null
	@LLVM=$(LLVM) regress/evidence/coverage.sh $(COV)

# --- order -------------------------------------------------------------
# of lines that were changed: another version of clang-format, or this one,
# would lay out whole files anew
format:
	git clang-format --style=file HEAD

# seconds: what `make check` asks as well
lint: all
	@etc/packages.sh $(LINT_PKGS)
	@DL_STATIC='shell man spell plain subjects wings tcb' regress/static/check.sh '$(abspath $(O))'

# minutes: what several analyzers see in the sources
static:
	@etc/packages.sh $(STATIC_PKGS)
	@regress/static/check.sh '$(abspath $(O))'

# two builds in two places, compared byte for byte
reproducible: $(if $(filter no,$(WEB)),,$(WEB_GEN)/table.c)
	@regress/static/reproducible.sh '$(abspath $(O))'

clean:
	$(call say,CLEAN,$(O))rm -rf $(O)

.PHONY: all help clean deps deps-test run check check-fast check-asan \
	test-bins docs sbom evidence coverage format lint static reproducible
.DELETE_ON_ERROR:
