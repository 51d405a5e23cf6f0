#!/bin/sh
# Starts the daemon from the build tree in the foreground and says what to
# type next.  As root: system mode, with the service users made first.
set -eu

bin=$1
shift
[ "$(id -u)" -ne 0 ] || "$(dirname "$0")/service-users.sh"

cat <<EOF
debuglantern on 127.0.0.1:4444.  In another terminal, for example:

  $bin/debuglanternctl run /bin/echo hello from RAM
  $bin/debuglanternctl upload ./your-program
  $bin/debuglanternctl help

Ctrl-C here stops the daemon and everything it started.

EOF
exec "$bin/debuglanternd" -d "$@"
