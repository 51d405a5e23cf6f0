# what prints and tries the system call filters, without sanitizers in any build
FILTERS :=	$(O)/regress/helpers/filters

$(FILTERS): regress/filters/filters.c common/confine/filter.h $(wildcard */sysfilter.[ch]) \
    common/confine/filter.c common/confine/sessfilter.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) -std=gnu11 -D_GNU_SOURCE -g -O1 $(WARN) \
	    -Icommon -I. -o $@ $< $$(regress/links.sh $<) -lseccomp

test-bins: $(FILTERS)

# the golden ones anew: what differs is to be looked at before it is committed
filters: $(FILTERS)
	$(call say,GEN,regress/filters/*.pfc)for name in $$($(FILTERS)); do \
		$(FILTERS) pfc $$name >regress/filters/$$name.pfc || exit 1; \
	done

.PHONY: filters
