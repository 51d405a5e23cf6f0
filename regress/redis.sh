#!/bin/sh
# A real program for tests and figures of tracing: Debian's redis, built here
# with debug information, once as it is and once with a bug (redis.patch).
# Prints the directory with good/redis-server, bad/redis-server,
# redis-benchmark and src.  With --there it makes nothing: it fails if that is
# not there yet.
set -u
umask 022

top=$(cd "$(dirname "$0")" && pwd)
if [ "$(id -u)" -eq 0 ]; then
	cache=/var/cache/debuglantern-tests
elif mkdir -p "${HOME:-}/.cache/debuglantern-tests" 2>/dev/null; then
	cache=$HOME/.cache/debuglantern-tests
else
	cache=/var/tmp/debuglantern-tests-$(id -u)
fi
# another one for another way of making it
dir=$cache/redis-$(cat "$0" "$top/redis.patch" | sha256sum | cut -c1-12)
if [ -d "$dir" ]; then
	echo "$dir"
	exit 0
fi
if [ "${1:-}" = --there ]; then
	echo "there is no $dir; make deps-test makes it" >&2
	exit 1
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
chmod 755 "$work"

# Without what it would need another library for.
build() {
	env -i PATH="$PATH" HOME="$work" SOURCE_DATE_EPOCH=0 \
	    make -C "$work/src/src" -j"$(nproc)" MALLOC=libc BUILD_TLS=no \
	    USE_SYSTEMD=no OPTIMIZATION=-O2 \
	    REDIS_CFLAGS="-ffile-prefix-map=$work/src=$dir/src" "$@"
}

make_all() {
	mkdir "$work/src" && "$top/debsource.sh" redis "$work/src" &&
	    build redis-server redis-benchmark || return 1
	mkdir -p "$work/out/good" "$work/out/bad"
	cp "$work/src/src/redis-server" "$work/out/good" &&
	    cp "$work/src/src/redis-benchmark" "$work/out" || return 1
	(cd "$work/src" && GIT_CEILING_DIRECTORIES="$work" git apply \
	    "$top/redis.patch") && build redis-server &&
	    cp "$work/src/src/redis-server" "$work/out/bad" || return 1
	mkdir -p "$work/out/src/src" &&
	    cp "$work"/src/src/*.[ch] "$work/out/src/src"
}

if ! make_all >"$work/log" 2>&1 || ! mv "$work/out" "$dir"; then
	echo "redis cannot be built:" >&2
	tail -20 "$work/log" >&2
	exit 1
fi
echo "$dir"
