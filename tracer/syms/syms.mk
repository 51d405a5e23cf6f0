# what a tracer does with symbols: asking, matching, showing
trcsym_SRCS :=	$(wildcard tracer/syms/*.c)
trcsym_OBJS :=	$(trcsym_SRCS:%.c=$(O)/obj/%.o)
LIBTRCSYM :=	$(O)/obj/libtrcsym.a

$(LIBTRCSYM): $(trcsym_OBJS)
	@rm -f $@
	$(call say,AR)ar rcs $@ $^
-include $(trcsym_OBJS:.o=.d)

$(O)/regress/helpers/trc_symbols: regress/helpers/trc_symbols.c \
    $(LIBTRCSYM) $(LIBTRCCORE) $(LIBCOMMON) $(SAN_OBJS)
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) -Icommon -Itracer $(ALL_LDFLAGS) -o $@ $< \
	    $(SAN_OBJS) $(LIBTRCSYM) $(LIBTRCCORE) $(LIBCOMMON) $(TRC_LIBS)
