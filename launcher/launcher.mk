# launcher: base/ and the files above run with its rights, the others without
launcher_SRCS := $(wildcard launcher/*.c launcher/base/*.c launcher/observer/*.c \
		launcher/owner/*.c)

# Without shared libraries, as every start copies its mappings thrice
ifndef SANITIZE
launcher_LIBS := -static-pie -lseccomp
endif

# A library for gdbserver travels in the launcher: a session's namespaces need
# not have our files.  It is loaded into another program, so the sanitizers of
# this build do not apply to it.
PRELOAD_DIR :=	$(O)/obj/launcher/preload

$(PRELOAD_DIR)/xstate.so: launcher/preload/xstate.c launcher/preload/preload.h
	@mkdir -p $(@D)
	$(call say,CC)$(CC) -std=gnu11 -D_GNU_SOURCE $(WARN) $(HARDEN) \
	    $(PATHS) $(CFLAGS) -fPIC -fvisibility=hidden -shared -s \
	    -Wl,-z,relro,-z,now,-z,noexecstack -Wl,--build-id=none \
	    $(LDFLAGS) -o $@ $<

$(PRELOAD_DIR)/blob.o: launcher/preload/blob.S $(PRELOAD_DIR)/xstate.so
	$(call say,AS)$(CC) -Wa,-I$(PRELOAD_DIR) -c -o $@ $<

launcher_LIBS += $(PRELOAD_DIR)/blob.o
$(LIBEXEC)/launcher: $(PRELOAD_DIR)/blob.o
