# dapdial: between the debugger and adapters that dial their client; it runs in
# sessions, so that it links nothing but libc
all: $(LIBEXEC)/dapdial

$(LIBEXEC)/dapdial: client/dapdial/main.c
	@mkdir -p $(@D) $(O)/obj
	$(call say,CC)$(CC) $(ALL_CFLAGS) -MMD -MP -MF $(O)/obj/dapdial.d \
	    $(ALL_LDFLAGS) -o $@ $<
	@chmod 755 $@
-include $(O)/obj/dapdial.d
