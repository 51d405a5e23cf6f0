# setup: what is done once, as root; the configuration is a library of its own,
# as tests link it too

conf_SRCS :=	$(wildcard setup/conf/*.c)
conf_OBJS :=	$(conf_SRCS:%.c=$(O)/obj/%.o) $(O)/obj/setup/conf/conf.tab.o
LIBCONF :=	$(O)/obj/libconf.a

$(LIBCONF): $(conf_OBJS)
	@rm -f $@
	$(call say,AR)ar rcs $@ $^

$(O)/gen/conf.tab.c: setup/conf/conf.y
	@mkdir -p $(@D)
	$(call say,BISON)$(BISON) -o $@ $<

$(O)/obj/setup/conf/conf.tab.o: $(O)/gen/conf.tab.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) -Icommon -Isetup/conf -MMD -MP -c -o $@ $<

# acctgate, which setup leaves behind, has the parent's filter
setup_SRCS :=	$(wildcard setup/*.c) parent/sysfilter.c
setup_LIBS =	$(LIBCONF) $(LIBCOMMON) -lseccomp
$(BIN)/debuglanternd: $(LIBCONF)

-include $(conf_OBJS:.o=.d)
