# setup: what is done once, as root; the configuration is a library of its own,
# as tests link it too

conf_SRCS :=	$(wildcard setup/conf/*.c)
conf_OBJS :=	$(conf_SRCS:%.c=$(O)/obj/%.o) $(O)/obj/setup/conf/conf.tab.o
LIBCONF :=	$(O)/obj/libconf.a

$(LIBCONF): $(conf_OBJS)
	@rm -f $@
	ar rcs $@ $^

$(O)/gen/conf.tab.c: setup/conf/conf.y
	@mkdir -p $(@D)
	$(BISON) -o $@ $<

$(O)/obj/setup/conf/conf.tab.o: $(O)/gen/conf.tab.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -Icommon -Isetup/conf -MMD -MP -c -o $@ $<

parent_SRCS :=	$(wildcard parent/*.c setup/*.c)
parent_LIBS =	$(LIBCONF) $(LIBCOMMON) -lseccomp
$(BIN)/debuglanternd: $(LIBCONF)

-include $(conf_OBJS:.o=.d)
