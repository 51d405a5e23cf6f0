#!/bin/sh
# Unpacks the upstream source of a Debian package into a directory that is
# there.  usage: regress/debsource.sh PACKAGE DIRECTORY
#
# The places that this machine has its packages from have the sources as
# well; the machine's own lists of places and packages stay as they are.
set -u

package=$1
into=$(cd "$2" && pwd) || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
mkdir -p "$work/apt" "$work/lists/partial" "$work/cache/archives/partial"
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

private_apt() {
	apt-get -q -o Dir::Etc::sourcelist=/dev/null \
	    -o Dir::Etc::sourceparts="$work/apt" \
	    -o Dir::State::lists="$work/lists" -o Dir::Cache="$work/cache" \
	    -o APT::Sandbox::User=root "$@"
}

cd "$work" || exit 1
# what matters is whether there is the source in the end; an older one of the
# release does where a mirror has lost its latest update
private_apt update || :
private_apt source --download-only "$package" ||
    private_apt source --download-only "$package/$code" || exit 1
tar -xf ./*.orig.tar.* -C "$into" --strip-components=1
