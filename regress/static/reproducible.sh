#!/bin/sh
# What is in the tree, built in two places: the programs must be the same,
# byte for byte.  npm's packages are fetched once.
# usage: reproducible.sh BUILD_DIRECTORY
set -eu

build=$1
cd "$(dirname "$0")/../.."
work=$build/reproducible
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
rm -rf "$work"

# $1: where to put the tree
place() {
	mkdir -p "$1"
	git ls-files -z | tar -c --null -T - | tar -x -C "$1"
}

# $1: the tree; $2: where it is built
build_in() {
	if [ "${WEB:-yes}" != no ]; then
		mkdir -p "$2/web"
		cp -r "$build/web/node_modules" "$2/web"
		touch "$2/web/node_modules/.package-lock.json"
	fi
	make -s -C "$1" O="$2" WEB="${WEB:-yes}" all
	(cd "$2" && find bin libexec -type f -exec sha256sum {} + | sort -k 2)
}

# both first: somebody may be at work in this tree
place "$work/one"
place "$work/a/longer-way"
build_in "$work/one" "$work/one/build" >"$build/reproducible.one"
build_in "$work/a/longer-way" "$work/elsewhere" >"$build/reproducible.two"
if diff "$build/reproducible.one" "$build/reproducible.two"; then
	echo "ok - $(wc -l <"$build/reproducible.one") programs, built twice," \
	    'are the same'
else
	echo 'not ok - programs depend on where they were built'
	exit 1
fi
