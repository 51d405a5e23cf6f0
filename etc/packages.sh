#!/bin/sh
# Installs the Debian packages named on the command line that are missing
# (as root), or names them.
set -eu

missing=
for p in "$@"; do
	status=$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null || :)
	[ "$status" = installed ] || missing="$missing $p"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
	echo "these Debian packages are missing:$missing" >&2
	echo "install them as root: apt-get install$missing" >&2
	exit 1
fi
echo "installing:$missing"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
trap 'exit 1' INT TERM
# Another apt-get, such as that of unattended upgrades, is waited for: by apt
# itself where packages are installed, and here where lists are fetched.
tries=60
until apt-get update -q >/dev/null 2>"$log"; do
	tries=$((tries - 1))
	if [ "$tries" -eq 0 ] || ! grep -q '/lists/lock' "$log"; then
		cat "$log" >&2
		exit 1
	fi
	sleep 5
done
# shellcheck disable=SC2086 # a list of words
apt-get install -q -y --no-install-recommends -o DPkg::Lock::Timeout=600 \
    $missing >/dev/null
