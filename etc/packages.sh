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
apt-get update -q >/dev/null
# shellcheck disable=SC2086 # a list of words
apt-get install -q -y --no-install-recommends $missing >/dev/null
