# The page, as part of netproc.  `make WEB=no` builds without it: no node
# is needed then, and the daemon answers its addresses with "not found".
# The makefile reads every directory's fragment, and this one by name as well.
ifndef WEB_MK
WEB_MK :=	read

WEB ?=		yes
LIBWEB :=	$(O)/obj/libweb.a
WEB_MODULES :=	$(O)/web/node_modules
# the page as it was built elsewhere, in a tree that was made to be packaged;
# `make page` puts it into $(O)/gen/web
WEB_BUILT :=	$(if $(wildcard web/built/table.c),yes,no)
WEB_GEN :=	$(if $(filter yes,$(WEB_BUILT)),web/built,$(O)/gen/web)

# Debian's, unless there are others
WEB_PKGS :=	$(if $(filter no,$(WEB))$(filter yes,$(WEB_BUILT)),,$(if $(shell command -v node),,nodejs) \
		$(if $(shell command -v npm),,npm))

# one object directory may have been built the other way before
$(O)/gen/web-is-$(WEB):
	@mkdir -p $(@D)
	@rm -f $(O)/gen/web-is-*
	@touch $@

ifneq ($(WEB_BUILT),yes)
# installed below the build directory: the source tree stays as it is
$(WEB_MODULES)/.package-lock.json: web/package.json web/package-lock.json \
    web/.npmrc
	@command -v node >/dev/null && command -v npm >/dev/null || { \
		echo 'the page needs node and npm (apt-get install nodejs' \
		    'npm); make WEB=no builds without it' >&2; exit 1; }
	@mkdir -p $(O)/web
	cp web/package.json web/package-lock.json web/.npmrc $(O)/web
	$(call say,NPM,web)cd $(O)/web && npm ci --loglevel=error --no-progress
	@touch $@

$(WEB_GEN)/table.c: web/build.mjs $(wildcard web/src/*) \
    $(WEB_MODULES)/.package-lock.json
	$(call say,GEN)node web/build.mjs web/src $(WEB_MODULES) $(WEB_GEN)
endif

page: $(WEB_GEN)/table.c

$(O)/obj/web/table.o: $(WEB_GEN)/table.c netproc/web/assets.h
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) -I. -c -o $@ $<

# the compressed files are in the object: it is as new as the table
$(O)/obj/web/assets.o: $(WEB_GEN)/table.c
	@mkdir -p $(@D)
	$(call say,AS)$(CC) $(HARDEN) -I$(WEB_GEN) -c -o $@ $(WEB_GEN)/assets.S

$(O)/obj/web/none.o: web/none.c netproc/web/assets.h
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) -I. -c -o $@ $<

$(LIBWEB): $(O)/gen/web-is-$(WEB) $(if $(filter no,$(WEB)), \
    $(O)/obj/web/none.o, $(O)/obj/web/table.o $(O)/obj/web/assets.o)
	@rm -f $@
	$(call say,AR)ar rcs $@ $(filter %.o,$^)

# --- what the tests of the page are made with ---------------------------
WEB_TEST_PKGS :=	$(if $(filter no,$(WEB)),,chromium htop vim nano less tmux)
WEB_TEST_MODULES := $(O)/web-test/node_modules/.package-lock.json
WEB_TEST :=	$(if $(filter no,$(WEB)),,$(WEB_TEST_MODULES))

$(WEB_TEST_MODULES): regress/web/package.json regress/web/package-lock.json \
    regress/web/.npmrc
	@mkdir -p $(O)/web-test
	cp regress/web/package.json regress/web/package-lock.json \
	    regress/web/.npmrc $(O)/web-test
	$(call say,NPM,web-test)cd $(O)/web-test && npm ci --loglevel=error --no-progress
	@touch $@

.PHONY: page

endif
