# The clients share client/lib, and it knows none of them.
LIBCLIENT :=	$(O)/obj/libclient.a
client_lib_OBJS := $(patsubst %.c,$(O)/obj/%.o,$(wildcard client/lib/*.c))

$(LIBCLIENT): $(client_lib_OBJS)
	@rm -f $@
	$(call say,AR)ar rcs $@ $^
-include $(client_lib_OBJS:.o=.d)

include client/ctl/ctl.mk client/debugger/debugger.mk client/mcp/mcp.mk \
	client/dapdial/dapdial.mk
