# The roles and the daemon once more, from the same objects, with what makes
# their calls fail linked in front of them: faults.t runs these.
comma :=	,
FAULTY :=	$(O)/regress/faulty
FAULTY_ROLES :=	setup $(ROLES)

$(FAULTY)/inject.o $(FAULTY)/inject-static.o: regress/faults/inject.c \
    regress/faults/plan.h
	@mkdir -p $(@D)
	$(call say,CC)$(CC) -std=gnu11 -D_GNU_SOURCE -g -O1 -fno-builtin $(WARN) \
	    -Wno-shadow -fPIE $(if $(findstring static,$@),-DSTATIC_LIBC) \
	    -c -o $@ $<

# $(1) role, $(2) the object in front, $(3) more for the linker
define FAULTY_ROLE
$(FAULTY)/$(1): $(2) $$($(1)_OBJS) $$(LIBCOMMON) \
    $(if $(filter netproc,$(1)),$$(LIBWEB)) \
    $(if $(filter setup,$(1)),$$(LIBCONF)) \
    $(if $(filter tracer,$(1)),$$(LIBTRCCORE) $$(LIBTRCSYM) $$(LIBTIMELINE)) \
    $(if $(filter debugger tracer,$(1)),$$(LIBINST))
	@mkdir -p $$(@D)
	$$(call say,LD)$$(CC) $$(ALL_LDFLAGS) $(3) -o $$@ $(2) $$($(1)_OBJS) \
	    $$(LIBCOMMON) $$($(1)_LIBS)
endef
$(foreach r,$(filter-out launcher,$(FAULTY_ROLES)),$(eval \
    $(call FAULTY_ROLE,$(r),$(FAULTY)/inject.o,-Wl$(comma)--export-dynamic)))
$(eval $(call FAULTY_ROLE,launcher,$(FAULTY)/inject-static.o,$(addprefix \
    -Wl$(comma)--wrap=,malloc calloc realloc reallocarray)))

# faults.t by itself is a sample of it
faults: all test-bins
	@DL_FAULTS=all DL_LIMIT=10800 DL_JOBS=1 \
	    DL_TESTS="regress/faults/faults.t regress/faults/kills.t" \
	    regress/run.sh '$(abspath $(O))'

.PHONY: faults

# sanitizers have a malloc of their own
ifndef SANITIZE
test-bins: $(FAULTY_ROLES:%=$(FAULTY)/%)
endif
