# debuglanternctl and debugger: which sources make them, and what they link.
# What both have; it speaks no TLS, so that debugger loads nothing of it.
CTL_SHARED :=	$(addprefix ctl/,args.c base64.c client.c conn.c dial.c follow.c \
		here.c input.c local.c options.c printer.c quote.c reply.c report.c \
		safe.c signals.c ssh.c start.c stream.c table.c target.c term.c)
ctl_SRCS :=	$(CTL_SHARED) $(addprefix ctl/,access.c attach.c audit.c \
		basic.c cast.c commands.c discover.c escape.c gdb.c help.c \
		host.c keys.c known.c lantern.c link.c login.c main.c mdns.c \
		open.c output.c people.c play.c progress.c proxy.c quiet.c \
		rawterm.c record.c refused.c relay.c resolve.c run.c secret.c secure.c \
		session.c shell.c sink.c store.c switches.c timeline.c \
		tl_export.c tl_file.c tl_kept.c tl_lines.c tl_open.c tl_sql.c \
		tokens.c top.c trace.c transfer.c trc_ask.c trc_build.c \
		trc_show.c whole.c)
# a kept timeline is read here, by what a tracer reads its own with
ctl_LIBS :=	$(O)/obj/libtrcsym.a $(O)/obj/libtrcstore.a \
		$(O)/obj/libcommon.a -ljson-c -lbsd \
		-lavahi-client -lavahi-common -ltls -lsqlite3 -lm
$(O)/bin/debuglanternctl: $(O)/obj/libtrcsym.a $(O)/obj/libtrcstore.a
