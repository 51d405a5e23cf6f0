#!/bin/sh
# Starts the daemon from the build tree in the foreground and says what to
# type next, once it runs.  As root: system mode, with the service users made
# first.
set -eu

bin=$1
shift
[ "$(id -u)" -ne 0 ] || "$(dirname "$0")/service-users.sh"

ctl() {
	env -u DEBUGLANTERN_TARGET "$bin/debuglanternctl" --timeout 5 "$@"
}

# The daemon takes this shell's place and its process id.
wait_for_daemon() {
	tries=0
	until ctl version >/dev/null 2>&1; do
		tries=$((tries + 1))
		[ $tries -lt 100 ] && kill -0 $$ 2>/dev/null || return 1
		sleep 0.2
	done
}

what_next() {
	if address=$(ctl web 2>&1); then
		cat <<TEXT

In a browser, once and within ten minutes:

  $address
TEXT
	else
		echo
		echo "$address"
	fi
	cat <<TEXT

In another terminal, for example:

  $bin/debuglanternctl run /bin/echo hello from RAM
  $bin/debuglanternctl shell
  $bin/debuglanternctl upload ./your-program
  $bin/debuglanternctl web	another address for a browser
  $bin/debuglanternctl help

Ctrl-C here stops the daemon and everything it started.

TEXT
}

# In one piece, behind what the daemon says meanwhile.
say() {
	wait_for_daemon || return 0
	text=$(what_next)
	sleep 0.3
	printf '%s\n\n' "$text"
}

# Who already answers would be taken for the one that is started here.
if ctl version >/dev/null 2>&1; then
	echo "there is a daemon already, and debuglanternctl goes to that one" \
	    "unless it is told another (--target)" >&2
else
	# No child of the daemon's is taken for a user: this one is none.
	(say </dev/null &)
fi
exec "$bin/debuglanternd" -d "$@"
