#!/bin/sh
# Makes the service users of etc/sysusers.d/debuglantern.conf that do not
# exist yet; as systemd-sysusers would, on hosts that have none.
set -eu

conf=$(cd "$(dirname "$0")" && pwd)/sysusers.d/debuglantern.conf
if command -v systemd-sysusers >/dev/null 2>&1; then
	exec systemd-sysusers "$conf"
fi
sed -n 's/^u  *\([^ ]*\) .*/\1/p' "$conf" | while read -r user; do
	getent passwd "$user" >/dev/null || useradd --system --user-group \
	    --no-create-home --home-dir / --shell /usr/sbin/nologin "$user"
done
