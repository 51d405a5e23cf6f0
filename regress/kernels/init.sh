#!/bin/busybox sh
# shellcheck shell=dash
# The guest's first process, see run.sh.  This file is started three times: by
# the kernel, on the host's files, and as an ordinary process that runs the job.

stop() {
	/bin/busybox sync
	/bin/busybox poweroff -f
}

# the root: the host's files, and above them what is written here
initrd() {
	/bin/busybox --install -s /bin
	mkdir -p /proc
	mount -t proc proc /proc
	for m in virtio_pci 9pnet_virtio 9p overlay; do
		modprobe "$m"
	done
	mount -t tmpfs -o mode=755 tmpfs /upper
	mkdir /upper/files /upper/work
	opts=trans=virtio,version=9p2000.L,msize=512000
	mount -t 9p -o ro,cache=loose,$opts root /lower || stop
	mount -t overlay -o \
	    lowerdir=/lower,upperdir=/upper/files,workdir=/upper/work \
	    overlay /new || stop
	mkdir -p /new/run /new/mnt
	mount -t proc -o nosuid,nodev,noexec proc /new/proc
	mount -t sysfs -o nosuid,nodev,noexec sysfs /new/sys
	mount -t cgroup2 -o nosuid,nodev,noexec cgroup2 /new/sys/fs/cgroup
	mount -t devtmpfs -o nosuid,mode=755 dev /new/dev
	for link in fd stdin=fd/0 stdout=fd/1 stderr=fd/2; do
		ln -s "/proc/self/${link#*=}" "/new/dev/${link%=*}"
	done
	mkdir /new/dev/pts /new/dev/shm
	mount -t devpts -o mode=620,gid=5,ptmxmode=666 devpts /new/dev/pts
	mount -t tmpfs -o nosuid,nodev,mode=1777 tmpfs /new/dev/shm
	mount -t tmpfs -o nosuid,nodev,mode=755 tmpfs /new/run
	mount -t tmpfs -o nosuid,nodev,mode=1777 tmpfs /new/tmp
	mount -t 9p -o cache=none,$opts out /new/mnt
	mkdir -p /new/run/lock
	cp /init /bin/busybox /new/run
	umount /proc
	exec switch_root /new /run/init
}

# one shell that waits, since a first process has to
root() {
	modules=$(sed 's/.*dl_modules=\([^ ]*\).*/\1/' /proc/cmdline)
	# the kernel asks for some by name when they are needed
	ln -sf /run/busybox /sbin/modprobe
	ln -sfn "$modules/lib/modules" /lib/modules
	/run/busybox ip link set lo up
	/run/busybox hostname -F /etc/hostname
	# as on a host that has been up for long
	[ ! -x /lib/systemd/systemd-sysctl ] || /lib/systemd/systemd-sysctl
	echo $(($(cat /proc/sys/kernel/pid_max) / 2)) \
	    >/proc/sys/kernel/ns_last_pid
	# as systemd has it: a session of a user, with no right to its cgroup
	cg=/sys/fs/cgroup
	for part in user.slice user-0.slice session-1.scope; do
		echo "+memory +pids" >$cg/cgroup.subtree_control
		cg=$cg/$part
		mkdir $cg
	done
	ulimit -Hn 524288
	ulimit -Sn 1024
	setsid /run/init job </dev/null >/mnt/said 2>&1 &
	wait $!
	stop
}

job() {
	echo $$ >/sys/fs/cgroup/user.slice/user-0.slice/session-1.scope/cgroup.procs
	/mnt/job
	echo $? >/mnt/rc
}

if [ "${1:-}" = job ]; then
	job
elif [ -e /run/init ]; then
	root
else
	initrd
fi
