#!/bin/sh
# The package in a Debian of its own, with its systemd as process 1: installed,
# driven, rotated, upgraded, removed, installed again and purged.  Nothing is
# left behind there, nor here.  As root.  usage: check.sh BUILD_DIRECTORY
# shellcheck disable=SC2016	# what is in single quotes is for the shell in there
set -eu

build=$1
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
[ "$(id -u)" -eq 0 ] || { echo 'make check-deb needs root' >&2; exit 1; }
deb=$(echo "$build"/deb/debuglantern_*.deb)
[ -f "$deb" ] || { echo "no package in $build/deb: make deb" >&2; exit 1; }

work=$build/check-deb
root=$work/root
groups=$work/cgroup
mine=$groups/debuglantern-check-$$
boss=
count=0
bad=0

end_host() {
	[ -z "$boss" ] || kill -KILL "$boss" 2>/dev/null || :
	[ -z "$boss" ] || wait "$boss" 2>/dev/null || :
	boss=
	if [ -d "$mine" ]; then
		tries=0
		until find "$mine" -depth -type d -exec rmdir {} + 2>/dev/null ||
		    [ $tries -ge 50 ]; do
			tries=$((tries + 1))
			sleep 0.2
		done
	fi
	! mountpoint -q "$groups" || umount "$groups"
}

cleanup() {
	end_host
	rm -rf "$root" "$groups"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

ok() {
	count=$((count + 1))
	echo "ok $count - $1"
}

not_ok() {
	count=$((count + 1))
	bad=$((bad + 1))
	echo "not ok $count - $1"
}

# $1: what; the rest: a command that must succeed
must() {
	what=$1
	shift
	if "$@" >"$work/out" 2>&1; then
		ok "$what"
	else
		not_ok "$what"
		sed 's/^/# /' "$work/out" | tail -30
	fi
}

# The same, told to wait for it.
comes() {
	what=$1
	shift
	tries=0
	until "$@" >"$work/out" 2>&1 || [ $tries -ge 150 ]; do
		tries=$((tries + 1))
		sleep 0.2
	done
	must "$what" "$@"
}

inside() {
	nsenter -t "$init" -m -u -i -n -p -C -r -w \
	    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C \
	    DEBIAN_FRONTEND=noninteractive "$@" </dev/null
}

# a line of shell in there
within() {
	inside sh -c "$1"
}

as_user() {
	inside setpriv --reuid ada --regid ada --init-groups env \
	    HOME=/home/ada XDG_RUNTIME_DIR=/run/user/1000 "$@"
}

# --- a Debian ------------------------------------------------------------
make_root() {
	depends=$(dpkg-deb -f "$deb" Depends | tr ',' '\n' |
	    sed 's/^ *//; s/[ |].*//' | tr '\n' ',')
	mmdebstrap --quiet --variant=minbase \
	    --aptopt='Acquire::Languages "none"' \
	    --include="${depends}systemd-sysv,dbus,libpam-systemd,gcc,libc6-dev,procps,iproute2,logrotate,autopkgtest,dpkg-dev" \
	    bookworm "$root" "${DEBIAN_MIRROR:-http://deb.debian.org/debian}"
	chroot "$root" useradd -m -u 1000 -s /bin/bash ada
	install -m 755 "$top/debian/tests/session" "$root/root/session"
	mkdir -p "$root/root/source"
	cp -r "$top/debian" "$root/root/source"
	cp "$deb" "$root/root/first.deb"
	repack 99.1 second
	repack 99.2 third
}

# A higher version, with a line more in the configuration that it ships.
repack() {
	dpkg-deb -R "$deb" "$work/tree"
	sed -i "s/^Version:.*/Version: $1/" "$work/tree/DEBIAN/control"
	echo "# of version $1" >>"$work/tree/etc/debuglantern.conf"
	dpkg-deb -b --root-owner-group "$work/tree" "$root/root/$2.deb" >/dev/null
	rm -rf "$work/tree"
}

# In a cgroup of its own, which its namespace then takes for the root.
start_host() {
	mkdir -p "$groups"
	mount -t cgroup2 cgroup2 "$groups"
	mkdir "$mine"
	(echo 0 >"$mine/cgroup.procs"
	exec unshare -m -u -i -n -p -C --fork --kill-child=KILL \
	    "$here/boot.sh" "$root") >"$work/console" 2>&1 </dev/null &
	boss=$!
	tries=0
	until init=$(pgrep -P "$boss" -x systemd) && inside systemctl \
	    is-system-running 2>/dev/null | grep -qE 'running|degraded'; do
		tries=$((tries + 1))
		if [ $tries -ge 300 ]; then
			tail -20 "$work/console"
			echo 'the private Debian does not start' >&2
			exit 1
		fi
		sleep 0.2
	done
}

# All that a package could leave, without what dpkg, apt, systemd and logrotate keep
# of their own, copies that the tools for users make, and what is a user's.
files() {
	within 'find / -xdev \( -path /proc -o -path /sys -o -path /dev -o \
	    -path /tmp -o -path /home -o -path /var/lib/logrotate -o -path /root -o -path /var/lib/dpkg -o \
	    -path /var/lib/apt -o -path /var/log/apt -o \
	    -path /var/cache -o -path /var/log/journal -o \
	    -path /var/lib/systemd \) -prune -o -print |
	    grep -vE "^/etc/(passwd|group|shadow|gshadow|subuid|subgid)-$|^/var/log/(dpkg|alternatives|lastlog|wtmp|btmp|faillog)|^/etc/\.pwd\.lock$" |
	    sort
	    find /run -path "*debuglantern*" ! -path "/run/systemd/*"
	    cut -d: -f1 /etc/passwd /etc/group /etc/shadow /etc/gshadow'
}

# --- what must hold ------------------------------------------------------
pid_of() {
	inside systemctl show -P MainPID debuglantern
}

is_quiet() {
	[ "$(inside debuglanternctl --json list)" = '[]' ]
}

state_of() {
	as_user debuglanternctl --json status "$1" | grep -q "\"state\":\"$2\""
}

installed() {
	must 'it is installed' inside dpkg -i /root/first.deb
	comes 'systemd has started the daemon' inside systemctl is-active \
	    debuglantern
	must 'and will at the next start of the host' inside systemctl \
	    is-enabled debuglantern
	must 'no daemon of a user is enabled' within \
	    '! find /etc/systemd/user | grep -q debuglantern'
	must 'the configuration is for its parent process alone' within \
	    '[ "$(stat -c "%a %U %G" /etc/debuglantern.conf)" = \
	    "640 root _dlparent" ]'
	must 'nothing failed' within '! systemctl --failed --no-legend |
	    grep debuglantern'
	must 'a user'"'"'s session is driven' inside /root/session
	# this Debian is the container that the test asks for
	must 'and so by autopkgtest' inside env \
	    PYTHONDONTWRITEBYTECODE=1 autopkgtest \
	    --ignore-restrictions=isolation-container \
	    /root/first.deb /root/source -- null
	[ ! -d "${deb%_*_*}-$(dpkg-deb -f "$deb" Version)/web/built" ] ||
		must 'there is a page' as_user sh -c \
		    'debuglanternctl web | grep http'
}

of_a_user() {
	inside loginctl enable-linger ada
	comes 'a user has a service manager' as_user systemctl --user is-active \
	    default.target
	must 'the system'"'"'s daemon is stopped' inside systemctl stop \
	    debuglantern
	must 'the user starts a daemon' as_user systemctl --user start \
	    debuglantern-user
	must 'which runs their program' within 'cat >/tmp/t.c <<C
#include <stdio.h>
int main(void) { puts("mine"); return 0; }
C
	gcc -o /tmp/t /tmp/t.c && chmod 755 /tmp/t'
	must 'and prints what it printed' as_user sh -c \
	    '[ "$(debuglanternctl --timeout 30 run /tmp/t)" = mine ]'
	must 'and ends' as_user systemctl --user stop debuglantern-user
	must 'without having failed' as_user sh -c \
	    '! systemctl --user --failed --no-legend | grep debuglantern'
	inside loginctl disable-linger ada
	inside loginctl terminate-user ada 2>/dev/null || :
	must 'the system'"'"'s is started again' inside systemctl start \
	    debuglantern
}

configured() {
	within 'cat >>/etc/debuglantern.conf <<C
listen on localhost
listen on 127.0.0.1 port 4445 tls
audit-file "/var/log/debuglantern.audit"
C'
	must 'a changed configuration is good' inside debuglanternd -n -f \
	    /etc/debuglantern.conf
	must 'and taken' inside systemctl restart debuglantern
	must 'a token is made' as_user debuglanternctl --timeout 30 token \
	    create --label kept
	comes 'there is a certificate' as_user sh -c \
	    'debuglanternctl fingerprint | grep SHA256'
	print=$(as_user debuglanternctl fingerprint)
}

# The drop-in for hosts that give sessions nothing: all that the daemon does
# itself works, and what is said to be closed is.
closed() {
	dropins=/etc/systemd/system/debuglantern.service.d
	within "mkdir $dropins && cp \
	    /usr/share/debuglantern/debuglantern.service.d/closed.conf $dropins &&
	    systemctl daemon-reload"
	must 'a daemon is closed by the drop-in' inside systemctl restart \
	    debuglantern
	inside systemd-analyze security --no-pager debuglantern.service |
	    tail -1 | sed 's/^/# closed: /'
	must 'it drives sessions' inside /root/session
	within 'mkdir -m 1777 /srv/all && mknod -m 666 /dev/lab c 1 3 &&
	    cp /tmp/t /srv/all'
	must 'which can be traced' as_user sh -c \
	    'debuglanternctl trace run --raw -f -p main -- /srv/all/t |
	    grep "function.:.main"'
	within 'gcc -static -o /tmp/alone /tmp/t.c && chmod 755 /tmp/alone'
	must 'and have a root of their own' as_user sh -c \
	    '[ "$(debuglanternctl --timeout 30 run --sandbox tmpfs \
	    /tmp/alone)" = mine ]'
	must 'its audit log goes on' within \
	    'tail -1 /var/log/debuglantern.audit | grep ada'
	as_user sh -c 'echo mine >/home/ada/file'
	tried() {
		for try in 'cat /home/ada/file' 'cat /tmp/t.c' \
		    'mkdir -m 2755 /tmp/set && rmdir /tmp/set' \
		    'touch /srv/all/file' 'test -c /dev/lab' \
		    'test "$(nice -n 5 nice)" -eq 5'; do
			must "$1: $try" as_user sh -c "$2 debuglanternctl \
			    --timeout 30 run /bin/sh -- -c '$try'"
		done
	}
	tried 'its sessions cannot' '!'
	within "rm -r $dropins && systemctl daemon-reload"
	must 'without the drop-in' inside systemctl restart debuglantern
	tried 'they can' ''
	within 'rm -r /srv/all /dev/lab'
}

rotated() {
	must 'the audit file has lines' within 'test -s /var/log/debuglantern.audit'
	must 'it is rotated' inside logrotate -f /etc/logrotate.d/debuglantern
	must 'the old lines are elsewhere' within \
	    'grep -q TOKEN /var/log/debuglantern.audit.1 &&
	    ! test -s /var/log/debuglantern.audit'
	as_user debuglanternctl token create --label second >/dev/null
	must 'the next are where they were, from its beginning' within \
	    'head -c 2 /var/log/debuglantern.audit | grep -q 20'
	must 'with its owner and mode' within \
	    '[ "$(stat -c "%a %U %G" /var/log/debuglantern.audit)" = \
	    "640 root _dlparent" ]'
}

upgraded() {
	old=$(pid_of)
	as_user debuglanternctl new --name works -- sleep 1000 >/dev/null
	as_user debuglanternctl start works >/dev/null 2>&1 || :
	comes 'a session runs' state_of works RUNNING
	must 'a higher version is installed' inside dpkg -i --force-confold \
	    /root/second.deb
	cp "$work/out" "$work/said"
	must 'it says that the old one goes on' grep 'the old version goes on' \
	    "$work/said"
	must 'and so it does' [ "$(pid_of)" = "$old" ]
	must 'with the session' state_of works RUNNING
	as_user debuglanternctl kill works >/dev/null
	as_user debuglanternctl delete works >/dev/null
	comes 'there is no session any more' is_quiet
	must 'a still higher one is installed' inside dpkg -i \
	    --force-confold /root/third.deb
	comes 'which is started again' inside systemctl is-active debuglantern
	must 'as another process' [ "$(pid_of)" != "$old" ]
	kept 'the upgrade'
}

# $1: after what
kept() {
	must "$1 kept the tokens" as_user sh -c \
	    'debuglanternctl --json token list | grep -q "\"kept\""'
	must "$1 kept the configuration" within \
	    'grep -q "^audit-file" /etc/debuglantern.conf'
	must "$1 kept the certificate" [ "$(as_user debuglanternctl \
	    fingerprint)" = "$print" ]
}

removed() {
	must 'it is removed' inside dpkg -r debuglantern
	must 'no process of it is left' within '! pgrep -u \
	    _dlparent,_dllog,_dlnet,_dlspawn,_dllaunch,_dlmdns,_dltls,_dlid,_dlacct,_dlrun'
	must 'the run directory is gone' within '! test -e /run/debuglantern'
	must 'configuration and state are there still' within \
	    'test -s /etc/debuglantern.conf && test -s /var/lib/debuglantern/tokens'
	must 'it comes back' inside dpkg -i --force-confold /root/third.deb
	comes 'and runs' inside systemctl is-active debuglantern
	comes 'and answers' is_quiet
	kept 'removing it'
	must 'it is purged' inside dpkg -P debuglantern
	files >"$work/after"
	must 'nothing of it is left' diff -u "$work/before" "$work/after"
}

# What may be an operator's own: the state on another file system.
elsewhere() {
	within 'mkdir /var/lib/debuglantern &&
	    mount -t tmpfs -o mode=755 tmpfs /var/lib/debuglantern'
	must 'it is installed where its state is on another file system' \
	    inside dpkg -i /root/first.deb
	comes 'and runs' inside systemctl is-active debuglantern
	must 'its directories are as they are to be' within \
	    'systemd-tmpfiles --create debuglantern.conf 2>&1 | diff /dev/null - &&
	    test -e /var/lib/debuglantern/tokens'
	must 'it can be configured twice' within \
	    'v=$(dpkg-query -W -f "\${Version}" debuglantern) &&
	    /var/lib/dpkg/info/debuglantern.postinst configure "$v"'
	comes 'and runs still' inside systemctl is-active debuglantern
	comes 'and serves' is_quiet
	# a daemon that has not seen the user of the first run, whose uid is free
	must 'its test does not pass where no process is found' within \
	    'mkdir /tmp/none && ln -s /bin/false /tmp/none/pgrep &&
	    ! said=$(PATH=/tmp/none:$PATH /root/session 2>&1)
	    echo "$said"; rm -r /tmp/none
	    echo "$said" | grep -q "there is no process debuglanternd"'
	as_user debuglanternctl new --name last -- sleep 1000 >/dev/null
	as_user debuglanternctl start last >/dev/null 2>&1 || :
	comes 'a session runs there' state_of last RUNNING
	must 'it is purged from there, with its session' inside dpkg -P \
	    debuglantern
	must 'of which nothing is left' within '! pgrep -x sleep'
	must 'nor of its state' within \
	    'test -z "$(ls -A /var/lib/debuglantern)"'
	within 'umount /var/lib/debuglantern && rmdir /var/lib/debuglantern'
	files >"$work/after"
	must 'nothing of it is left there either' diff -u "$work/before" \
	    "$work/after"
}

mkdir -p "$work"
cleanup
make_root
start_host
files >"$work/before"
installed
inside systemd-analyze security --no-pager debuglantern.service |
    tail -1 | sed 's/^/# /'
of_a_user
configured
closed
rotated
upgraded
removed
elsewhere
end_host
echo "1..$count"
echo "$((count - bad)) passed, $bad failed"
[ "$bad" -eq 0 ]
