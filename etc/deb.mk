# A Debian package of what git has, built below $(O), with the page built
# beforehand: the package's own build has no network.

# the makefile reads every directory's fragment, and this one by name as well
ifndef DEB_MK
DEB_MK :=	read

include web/web.mk
DEB_PKGS :=	debhelper dpkg-dev lintian git
DEB_CHECK_PKGS := mmdebstrap util-linux
DEB_DIR :=	$(O)/deb
DEB_TREE :=	$(DEB_DIR)/debuglantern-$(VERSION)
DEB_MARK :=	$(DEB_DIR)/built
ifeq ($(WEB),no)
DEB_PAGE :=
else
DEB_PAGE :=	$(WEB_GEN)/table.c
endif

deb:
	@etc/packages.sh $(BUILD_PKGS) $(DEB_PKGS)
	@$(MAKE) --no-print-directory $(DEB_MARK)
	@ls $(DEB_DIR)/*.deb

$(DEB_MARK): $(DEB_PAGE) $(shell git ls-files 2>/dev/null)
	$(call say,DEB,$(DEB_DIR))rm -rf $(DEB_DIR)
	mkdir -p $(DEB_TREE)
	git ls-files -z | tar -c --null -T - | tar -x -C $(DEB_TREE)
	$(if $(DEB_PAGE),cp -r $(WEB_GEN) $(DEB_TREE)/web/built)
	cd $(DEB_TREE) && dpkg-buildpackage -us -uc -b
	cd $(DEB_DIR) && lintian --fail-on error,warning --info \
	    --allow-root *.changes
	@touch $@

# Minutes, root and the network: a Debian of its own, started with its systemd,
# in which the package is installed, driven, upgraded, removed and purged.
check-deb: deb
	@etc/packages.sh $(DEB_CHECK_PKGS)
	regress/deb/check.sh '$(abspath $(O))'

.PHONY: deb check-deb

endif
