# make check-kernel: tests under a kernel package of Debian, in qemu, which emulates
# the processor and takes ten times longer.  run.sh describes KERNEL, CPU, CPUS,
# MEMORY, BOOT and COMMAND.
KERNEL_PKGS :=	qemu-system-x86 busybox-static xz-utils
KERNEL_TESTS =	regress/attack/fence.t regress/attack/roles.t \
		regress/attack/others.t regress/attack/access.t \
		$(addprefix regress/e2e/,activity.t sandbox.t launcher.t \
		daemon.t debug.t privs.t trace_engine.t tracer_role.t \
		tracer_process.t terminal.t dap_engine.t) \
		$(UNIT_BINS:$(O)/%=$(abspath $(O))/%)

check-kernel: deps-test
	@etc/packages.sh $(KERNEL_PKGS)
	@$(MAKE) --no-print-directory $(PARALLEL) all test-bins
	@DL_TESTS="$${DL_TESTS:-$(strip $(KERNEL_TESTS))}" \
	    DL_LIMIT=$${DL_LIMIT:-3600} regress/kernels/run.sh $(abspath $(O))

.PHONY: check-kernel
