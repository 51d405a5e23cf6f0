# timeline: what a tracer records, a library; the tracer writes it, and
# debuglanternctl reads the files that were kept
# timeline/*/ are looked at by regress/static/wings.py
timeline_SRCS :=	$(wildcard timeline/*/*.c)
timeline_OBJS :=	$(timeline_SRCS:%.c=$(O)/obj/%.o)
LIBTIMELINE :=	$(O)/obj/libtimeline.a

$(LIBTIMELINE): $(timeline_OBJS)
	@rm -f $@
	$(call say,AR)ar rcs $@ $^
-include $(timeline_OBJS:.o=.d)

$(O)/regress/helpers/trc_store: regress/helpers/trc_store.c \
    $(LIBTIMELINE) $(LIBCOMMON) $(SAN_OBJS)
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) -Icommon -I. $(ALL_LDFLAGS) -o $@ $< \
	    $(SAN_OBJS) $(LIBTIMELINE) $(LIBCOMMON) -lsqlite3 -lm -ljson-c
