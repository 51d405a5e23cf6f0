# make field: the product beside references that are not this project's, on
# programs of Debian's packages.  regress/field/run.sh says what a part is.
# FIELD_PARTS="sessions traced suites values calls stops", some of them;
# FIELD_SEED=1 another random choice; FIELD_ALL=1 all instead of a choice
FIELD_PARTS ?=
FIELD_SEED ?=	1
FIELD_ALL ?=
FIELD_PKGS :=	autoconf automake bc bison busybox bzip2 cargo ceph-common \
		cmake curl default-jdk-headless ed elfutils file flex gawk \
		gcc-12-source golang-go golang-src graphviz groff guile-3.0 jq \
		libgmock-dev libgtest-dev libonig-dev libpython3.11-testsuite \
		librados2-dbg libtool libxml2-utils lsof lua5.4 m4 man-db \
		nodejs patch pax php-cli python3.11-dbg rsync ruby rustc \
		sqlite3 strace tcl tcl-dev unzip valgrind

field: deps-test
	@etc/packages.sh $(FIELD_PKGS)
	@$(MAKE) --no-print-directory $(PARALLEL) all test-bins
	@[ "$$(id -u)" -ne 0 ] || etc/service-users.sh
	@FIELD_SEED=$(FIELD_SEED) FIELD_ALL=$(FIELD_ALL) regress/field/run.sh '$(abspath $(O))' $(FIELD_PARTS)

.PHONY: field
