#!/bin/sh
# Starts the systemd of the tree $1, in namespaces that whoever calls this has
# made: with devices, processes, network and cgroups of its own.
set -eu

root=$1
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc -o nosuid,nodev,noexec proc "$root/proc"
mount -t sysfs -o ro,nosuid,nodev,noexec sysfs "$root/sys"
mount -t cgroup2 -o nosuid,nodev,noexec cgroup2 "$root/sys/fs/cgroup"
mount -t tmpfs -o nosuid,mode=755 tmpfs "$root/dev"
for node in null zero full random urandom tty; do
	touch "$root/dev/$node"
	mount --bind "/dev/$node" "$root/dev/$node"
done
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts \
    "$root/dev/pts"
mount -t tmpfs -o nosuid,nodev,mode=1777 tmpfs "$root/dev/shm"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
mount -t tmpfs -o nosuid,nodev,mode=755 tmpfs "$root/run"

# not chroot: no user namespace could be made behind one
cd "$root"
mkdir -p .old
pivot_root . .old
umount -l /.old
rmdir /.old
ip link set lo up
exec env -i container=check PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    /lib/systemd/systemd --system --log-target=console --log-level=warning \
    --show-status=0
