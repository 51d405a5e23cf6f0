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

# The places that this machine has its packages from have the sources as
# well; the machine's own lists of places and packages stay as they are.
sources() {
	code=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
	for f in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
		[ ! -r "$f" ] || sed -nE \
		    "s,^deb( \[[^]]*\])? +([^ ]+ $code(-[a-z]+)? .*main),deb-src\1 \2,p" \
		    "$f"
	done >"$work/apt/some.list"
	for f in /etc/apt/sources.list.d/*.sources; do
		[ ! -r "$f" ] || awk -v suite="[ \t]$code(-[a-z]+)?([ \t\n]|\$)" '
		    BEGIN { RS = ""; ORS = "\n\n" }
		    match($0, /(^|\n)Suites:[^\n]*/) &&
		    substr($0, RSTART, RLENGTH) ~ suite &&
		    /(^|\n)Components:[^\n]* main/ {
			sub(/(^|\n)Types:[^\n]*/, "\nTypes: deb-src")
			print
		    }' "$f"
	done >"$work/apt/some.sources"
}

private_apt() {
	apt-get -q -o Dir::Etc::sourcelist=/dev/null \
	    -o Dir::Etc::sourceparts="$work/apt" \
	    -o Dir::State::lists="$work/lists" -o Dir::Cache="$work/cache" \
	    -o APT::Sandbox::User=root "$@"
}

fetch() {
	mkdir -p "$work/apt" "$work/lists/partial" \
	    "$work/cache/archives/partial" "$work/src"
	sources
	cd "$work" || return 1
	# what matters is whether there is the source in the end
	private_apt update || :
	private_apt source --download-only redis &&
	    tar -xf redis_*.orig.tar.* -C src --strip-components=1
}

# Without what it would need another library for.
build() {
	env -i PATH="$PATH" HOME="$work" SOURCE_DATE_EPOCH=0 \
	    make -C "$work/src/src" -j"$(nproc)" MALLOC=libc BUILD_TLS=no \
	    USE_SYSTEMD=no OPTIMIZATION=-O2 \
	    REDIS_CFLAGS="-ffile-prefix-map=$work/src=$dir/src" "$@"
}

make_all() {
	fetch && build redis-server redis-benchmark || return 1
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
