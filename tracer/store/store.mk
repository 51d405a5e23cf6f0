# the tracer's timeline without what ties it to a target or to the daemon
trcstore_SRCS :=	$(wildcard tracer/store/*.c)
trcstore_OBJS :=	$(trcstore_SRCS:%.c=$(O)/obj/%.o)
LIBTRCSTORE :=	$(O)/obj/libtrcstore.a

$(LIBTRCSTORE): $(trcstore_OBJS)
	@rm -f $@
	$(call say,AR)ar rcs $@ $^
-include $(trcstore_OBJS:.o=.d)

$(O)/regress/helpers/trc_store: regress/helpers/trc_store.c \
    $(LIBTRCSTORE) $(LIBCOMMON) $(SAN_OBJS)
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) -Icommon -Itracer $(ALL_LDFLAGS) -o $@ $< \
	    $(SAN_OBJS) $(LIBTRCSTORE) $(LIBCOMMON) -lsqlite3 -lm -ljson-c
