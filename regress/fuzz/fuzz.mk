# Fuzz targets: regress/fuzz/fuzz_NAME.c, corpus/NAME/, dict/NAME.dict.
# A target names the sources that it fuzzes in a line of its own:
#   /* links: netproc/line.c common/proto.c */
FUZZ_TIME ?=	60
FUZZ_CC ?=	clang
FUZZ_FLAGS :=	-std=gnu11 -D_GNU_SOURCE -g -O1 -DDL_VERSION='"fuzz"' \
		-fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=undefined -Icommon -I.
FUZZ_SRCS :=	$(wildcard regress/fuzz/fuzz_*.c)
FUZZ_BINS :=	$(FUZZ_SRCS:regress/fuzz/%.c=$(O)/fuzz/%)

$(O)/fuzz/fuzz_%: regress/fuzz/fuzz_%.c $(O)/gen/conf.tab.c $(common_SRCS) $(LIBWEB) \
    $(wildcard netproc/*.c spawner/*.c tlsproc/*.c ctl/*.c debugger/*.c tracer/*.[ch] tracer/*/*.[ch] symbols/*.[ch])
	@mkdir -p $(@D)
	$(FUZZ_CC) $(FUZZ_FLAGS) $$(sed -n \
	    's,^/\* flags: \(.*\) \*/$$,\1,p' $<) -o $@ $< $$( \
	    regress/links.sh $< | sed 's,conf.tab.c,$(O)/gen/conf.tab.c,') $(LIBWEB) -lseccomp -luuid -lsodium -ljson-c -lmicrohttpd -lwslay -lnettle \
	    -lcrypto -lsqlite3 -lz -lzstd -liberty

fuzz-bins: $(FUZZ_BINS)

fuzz: fuzz-bins
	@regress/fuzz/run.sh $(O)/fuzz $(FUZZ_TIME)

.PHONY: fuzz fuzz-bins
