# debuglanternctl: which sources make it, and what it links.
ctl_SRCS :=	$(addprefix ctl/,base64.c basic.c client.c commands.c conn.c \
		discover.c follow.c gdb.c help.c host.c main.c options.c \
		output.c progress.c quote.c relay.c reply.c report.c run.c \
		safe.c session.c signals.c sink.c table.c term.c top.c \
		transfer.c)
ctl_LIBS :=	-ljson-c -lbsd -lavahi-client -lavahi-common
