# what a tracer does with symbols: asking and matching
trcsym_SRCS :=	$(wildcard tracer/syms/*.c)
trcsym_OBJS :=	$(trcsym_SRCS:%.c=$(O)/obj/%.o)
LIBTRCSYM :=	$(O)/obj/libtrcsym.a

$(LIBTRCSYM): $(trcsym_OBJS)
	@rm -f $@
	$(call say,AR)ar rcs $@ $^
-include $(trcsym_OBJS:.o=.d)

$(O)/regress/helpers/trc_symbols: regress/helpers/trc_symbols.c \
    $(LIBTRCSYM) $(LIBTIMELINE) $(LIBTRCCORE) $(LIBCOMMON) $(SAN_OBJS)
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) -Icommon -I. -Itracer $(ALL_LDFLAGS) -o $@ $< \
	    $(SAN_OBJS) $(LIBTRCSYM) $(LIBTIMELINE) $(LIBTRCCORE) $(LIBCOMMON) $(TRC_LIBS)
