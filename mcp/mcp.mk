# debuglantern-mcp: lines of standard input to the local socket, and back
mcp_SRCS :=	$(wildcard mcp/*.c) $(addprefix ctl/,args.c conn.c daemon.c dial.c \
		here.c local.c reply.c report.c safe.c signals.c ssh.c \
		start.c stream.c target.c)
mcp_LIBS :=	-ljson-c -lbsd
