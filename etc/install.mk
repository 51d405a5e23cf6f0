# install and uninstall.  A configuration that is there stays as it is.

# the makefile reads every directory's fragment, and this one by name as well
ifndef INSTALL_MK
INSTALL_MK :=	read

BINDIR =	$(PREFIX)/bin
MANDIR =	$(PREFIX)/share/man
UNITDIR =	$(PREFIX)/lib/systemd/system
USERUNITDIR =	$(PREFIX)/lib/systemd/user
SYSUSERSDIR =	$(PREFIX)/lib/sysusers.d
TMPFILESDIR =	$(PREFIX)/lib/tmpfiles.d
BASHCOMPDIR =	$(PREFIX)/share/bash-completion/completions
ZSHCOMPDIR =	$(PREFIX)/share/zsh/site-functions
DOCDIR =	$(PREFIX)/share/doc/debuglantern
# for those hosts whose AppArmor knows the rule, to be copied to /etc
APPARMORDIR =	$(PREFIX)/share/debuglantern/apparmor.d
# the same, for hosts that give sessions less
DROPINDIR =	$(PREFIX)/share/debuglantern/debuglantern.service.d
INSTALL ?=	install
CONF =		$(DESTDIR)$(SYSCONFDIR)/debuglantern.conf

INSTALLED_BINS := debuglanternd debuglanternctl debugger debuglantern-mcp
COMPLETED :=	debuglanternctl debugger
INSTALLED_MAN :=  $(notdir $(wildcard man/*.[1-9]))
# those to which the man pages send their readers
INSTALLED_DOCS := TRACING.md TIMELINE.md SYMBOLS.md
FILL =		sed -e 's,@BINDIR@,$(BINDIR),g' \
		-e 's,@SYSCONFDIR@,$(SYSCONFDIR),g'

# the daemon finds its roles beside its own directory
install: all
	@[ '$(LIBEXECDIR)' = '$(PREFIX)/libexec/debuglantern' ] || { \
		echo 'LIBEXECDIR must be $(PREFIX)/libexec/debuglantern:' \
		    'debuglanternd looks in ../libexec/debuglantern' >&2; \
		exit 1; }
	$(call say,INSTALL,programs below $(DESTDIR)$(PREFIX))
	$(INSTALL) -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(LIBEXECDIR)
	$(INSTALL) -m 0755 $(INSTALLED_BINS:%=$(BIN)/%) $(DESTDIR)$(BINDIR)
	$(INSTALL) -m 0755 $(ROLES:%=$(LIBEXEC)/%) $(LIBEXEC)/dapdial \
	    $(DESTDIR)$(LIBEXECDIR)
	$(call say,INSTALL,manual pages and services below $(DESTDIR)$(PREFIX))
	for page in $(INSTALLED_MAN); do \
		$(INSTALL) -D -m 0644 man/$$page \
		    $(DESTDIR)$(MANDIR)/man$${page##*.}/$$page || exit 1; \
	done
	$(INSTALL) -d $(DESTDIR)$(DOCDIR) $(DESTDIR)$(UNITDIR) \
	    $(DESTDIR)$(USERUNITDIR) $(DESTDIR)$(TMPFILESDIR)
	$(INSTALL) -m 0644 $(INSTALLED_DOCS:%=docs/%) $(DESTDIR)$(DOCDIR)
	$(FILL) etc/systemd/debuglantern.service.in \
	    >$(DESTDIR)$(UNITDIR)/debuglantern.service
	$(FILL) etc/systemd/debuglantern-user.service.in \
	    >$(DESTDIR)$(USERUNITDIR)/debuglantern-user.service
	$(FILL) etc/tmpfiles.d/debuglantern.conf.in \
	    >$(DESTDIR)$(TMPFILESDIR)/debuglantern.conf
	chmod 0644 $(DESTDIR)$(UNITDIR)/debuglantern.service \
	    $(DESTDIR)$(USERUNITDIR)/debuglantern-user.service \
	    $(DESTDIR)$(TMPFILESDIR)/debuglantern.conf
	$(INSTALL) -D -m 0644 etc/sysusers.d/debuglantern.conf \
	    $(DESTDIR)$(SYSUSERSDIR)/debuglantern.conf
	$(INSTALL) -D -m 0644 etc/apparmor.d/debuglantern \
	    $(DESTDIR)$(APPARMORDIR)/debuglantern
	$(INSTALL) -D -m 0644 etc/systemd/closed.conf \
	    $(DESTDIR)$(DROPINDIR)/closed.conf
	for name in $(COMPLETED); do \
		$(INSTALL) -D -m 0644 etc/completions/$$name \
		    $(DESTDIR)$(BASHCOMPDIR)/$$name && \
		$(INSTALL) -D -m 0644 etc/completions/_$$name \
		    $(DESTDIR)$(ZSHCOMPDIR)/_$$name || exit 1; \
	done
	@if [ -e $(CONF) ]; then \
		echo 'kept $(CONF); etc/debuglantern.conf has the defaults'; \
	else \
		$(INSTALL) -D -m 0644 etc/debuglantern.conf $(CONF); \
	fi
	@[ -n '$(DESTDIR)' ] || echo 'next, as root: systemd-sysusers;' \
	    'systemd-tmpfiles --create; systemctl daemon-reload;' \
	    'systemctl enable --now debuglantern'

# sessions' state, service users and the configuration are the operator's
uninstall:
	$(call say,REMOVE,programs and pages below $(DESTDIR)$(PREFIX))
	rm -f $(INSTALLED_BINS:%=$(DESTDIR)$(BINDIR)/%)
	rm -rf $(DESTDIR)$(LIBEXECDIR) $(DESTDIR)$(PREFIX)/share/debuglantern
	for page in $(INSTALLED_MAN); do \
		rm -f $(DESTDIR)$(MANDIR)/man$${page##*.}/$$page; done
	rm -f $(DESTDIR)$(UNITDIR)/debuglantern.service \
	    $(DESTDIR)$(USERUNITDIR)/debuglantern-user.service \
	    $(DESTDIR)$(TMPFILESDIR)/debuglantern.conf \
	    $(DESTDIR)$(SYSUSERSDIR)/debuglantern.conf \
	    $(INSTALLED_DOCS:%=$(DESTDIR)$(DOCDIR)/%) \
	    $(COMPLETED:%=$(DESTDIR)$(BASHCOMPDIR)/%) \
	    $(COMPLETED:%=$(DESTDIR)$(ZSHCOMPDIR)/_%)

.PHONY: install uninstall

endif
