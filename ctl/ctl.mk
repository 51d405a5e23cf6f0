# debuglanternctl: which sources make it, and what it links.
ctl_SRCS :=	$(addprefix ctl/,access.c audit.c base64.c basic.c client.c \
		commands.c conn.c dial.c discover.c follow.c gdb.c help.c \
		host.c known.c local.c main.c mdns.c options.c output.c \
		progress.c proxy.c quote.c relay.c reply.c report.c run.c \
		safe.c secret.c secure.c session.c signals.c sink.c ssh.c \
		store.c stream.c table.c target.c term.c tokens.c top.c \
		transfer.c)
ctl_LIBS :=	-ljson-c -lbsd -lavahi-client -lavahi-common -ltls
