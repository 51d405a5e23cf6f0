#!/bin/sh
# A library of Debian's, built here with debug information, and the
# programs of its own tests.  Prints the directory that has them; what has
# been built is kept for the next run.
# usage: regress/field/suites.sh PACKAGE
set -u
umask 022

package=$1
top=$(cd "$(dirname "$0")/.." && pwd)
if [ "$(id -u)" -eq 0 ]; then
	cache=/var/cache/debuglantern-tests
else
	cache=${HOME:-/var/tmp}/.cache/debuglantern-tests
fi
build=build_${package%%[-.0-9]*}
# another one for another way of making it
dir=$cache/$package-$({
	sed -n "/^FLAGS/p; /^$build()/,/^}/p" "$0"
	cat "$top/debsource.sh"
} | sha256sum | cut -c1-12)
if [ -d "$dir" ]; then
	echo "$dir"
	exit 0
fi
mkdir -p "$cache" || exit 1
exec 9>"$dir.lock" || exit 1
flock 9
if [ -d "$dir" ]; then
	echo "$dir"
	exit 0
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
src=$work/src
out=$work/out
mkdir "$src" "$out"
FLAGS="-g -O2 -w"
# shellcheck disable=SC2016 # the loader's word
HERE='-Wl,-rpath,$ORIGIN'

# upstream PACKAGE DIRECTORY
upstream() {
	mkdir -p "$2" && "$top/debsource.sh" "$1" "$2"
}

# shellcheck disable=SC2086 # FLAGS are words
build_zlib() {
	cd "$src" && gcc $FLAGS -fPIC -shared -D_LARGEFILE64_SOURCE=1 \
	    -DHAVE_UNISTD_H -o "$out/libz.so" ./*.c || return 1
	for p in test/example test/minigzip test/infcover examples/enough \
	    examples/fitblk examples/gun examples/gzappend examples/gzjoin \
	    examples/zpipe; do
		gcc $FLAGS -I. -D_LARGEFILE64_SOURCE=1 -DHAVE_UNISTD_H \
		    -o "$out/${p##*/}" $p.c -L"$out" -lz "$HERE" || return 1
	done
}

# shellcheck disable=SC2086
build_lua() {
	upstream lua-lpeg "$work/lpeg" && upstream lua5.1 "$work/old" &&
	    cd "$src/src" || return 1
	mv lua.c ../lua.c && rm luac.c
	gcc $FLAGS -fPIC -shared -DLUA_USE_LINUX -DLUA_COMPAT_5_3 \
	    -o "$out/liblua.so" ./*.c -lm -ldl &&
	    gcc $FLAGS -I. -DLUA_USE_LINUX -DLUA_COMPAT_5_3 -o "$out/lua" \
		../lua.c -L"$out" -llua "$HERE" &&
	    gcc $FLAGS -fPIC -shared -I. -o "$out/lpeg.so" "$work"/lpeg/*.c &&
	    cp -r "$work/lpeg/test.lua" "$work/lpeg/re.lua" \
		"$work/old/test" "$out"
}

# testfixture looks inside of the library and has it within
# shellcheck disable=SC2086
build_sqlite() {
	options="-DSQLITE_ENABLE_FTS4 -DSQLITE_ENABLE_FTS5 -DSQLITE_ENABLE_RTREE
	    -DSQLITE_ENABLE_GEOPOLY -DSQLITE_ENABLE_DBPAGE_VTAB
	    -DSQLITE_ENABLE_BYTECODE_VTAB -DSQLITE_ENABLE_DESERIALIZE
	    -DSQLITE_THREADSAFE=0 -DSQLITE_OSS_FUZZ -DSQLITE_MAX_MEMORY=50000000
	    -DSQLITE_PRINTF_PRECISION_LIMIT=1000 -DSQLITE_OMIT_LOAD_EXTENSION -I."
	mkdir "$work/b" && cd "$work/b" && "$src/configure" CFLAGS="$FLAGS" &&
	    make -j"$(nproc)" testfixture sqlite3.c || return 1
	gcc $FLAGS $options -fPIC -shared -o "$out/libsqlite3.so" sqlite3.c \
	    -lm -ldl &&
	    gcc $FLAGS $options -I"$src/ext/recover" -o "$out/fuzzcheck" \
		"$src/test/fuzzcheck.c" "$src/test/ossfuzz.c" \
		"$src/test/fuzzinvariants.c" "$src/test/vt02.c" \
		"$src/ext/recover/dbdata.c" \
		"$src/ext/recover/sqlite3recover.c" \
		-L"$out" -lsqlite3 -lm -lz "$HERE" &&
	    cp testfixture "$out" && cp -r "$src/test" "$src/ext" "$out"
}

build_jq() {
	cd "$src" && autoreconf -i && ./configure --disable-docs \
	    --disable-maintainer-mode CFLAGS="$FLAGS" &&
	    make -j"$(nproc)" && cp .libs/libjq.so* "$out" &&
	    gcc -o "$out/jq" src/main.o -L"$out" -ljq -lm "$HERE" &&
	    cp -r tests "$out"
}

build_redis() {
	cd "$src" && make -j"$(nproc)" MALLOC=libc BUILD_TLS=no \
	    USE_SYSTEMD=no OPTIMIZATION=-O2 && make -C tests/modules &&
	    mkdir "$out/src" &&
	    cp src/redis-server src/redis-cli src/redis-benchmark "$out/src" &&
	    cp -r tests redis.conf "$out"
}

build_libffi() {
	cd "$src" && ./configure --disable-docs CFLAGS="$FLAGS" &&
	    make -j"$(nproc)" &&
	    cp ./*-linux-gnu/.libs/libffi.so* ./*-linux-gnu/include/*.h \
		./*-linux-gnu/fficonfig.h include/ffi_common.h "$out" &&
	    cp -r testsuite "$out"
}

# Nothing is inlined here, so that there are many functions.
build_yaml() {
	cd "$src" || return 1
	for f in src/*.cpp src/contrib/*.cpp; do
		echo "$(echo "$f" | tr / _).lib.o $f"
	done >list
	for f in test/*.cpp test/*/*.cpp; do
		echo "$(echo "$f" | tr / _).o $f"
	done >>list
	xargs -P"$(nproc)" -L1 g++ -std=c++14 -g -O0 -w -fPIC -Iinclude -Isrc \
	    -Itest -c -o <list &&
	    g++ -shared -o "$out/libyaml-cpp.so" ./*.lib.o && rm ./*.lib.o &&
	    g++ -o "$out/tests" ./*.o -L"$out" -lyaml-cpp -lgmock -lgtest \
		-lpthread "$HERE"
}

if ! "$top/debsource.sh" "$package" "$src" >"$work/log" 2>&1 ||
    ! "$build" >>"$work/log" 2>&1 ||
    ! chmod -R a+rX "$out" || ! mv "$out" "$dir"; then
	echo "$package cannot be built:" >&2
	tail -20 "$work/log" >&2
	exit 1
fi
echo "$dir"
