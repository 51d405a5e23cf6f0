# debugger: a command line for adapters, with what it shares with
# debuglanternctl; it speaks no TLS
dbg_SRCS :=	$(wildcard dbg/*.c) $(CTL_SHARED) ctl/daemon.c \
		$(addprefix debugger/,codec.c profile.c profile_table.c \
		copy.c jmake.c jsize.c clean.c)
dbg_LIBS :=	-ljson-c -lbsd
