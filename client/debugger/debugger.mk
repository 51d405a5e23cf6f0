# debugger: a command line for adapters; it speaks no TLS
client/debugger_SRCS := $(wildcard client/debugger/*.c) \
		$(addprefix debugger/text/,clean.c codec.c copy.c json_make.c \
		json_size.c) $(addprefix debugger/dap/,profile.c profile_table.c)
client/debugger_LIBS := $(LIBCLIENT) $(LIBCOMMON) -ljson-c -lbsd -lnettle
$(BIN)/debugger: $(LIBCLIENT)
