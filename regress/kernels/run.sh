#!/bin/sh
# Runs tests under another kernel and on an emulated processor: qemu boots a
# kernel package of Debian on this machine's files, with cgroup v2 alone.  The
# guest's writes end with the guest.
# usage: regress/kernels/run.sh BUILD_DIRECTORY
#
# KERNEL	version, as 6.1 or 6.12 (6.1)
# CPU		processor, as qemu names it: max, Haswell, qemu64,+fsgsbase (max)
# CPUS		number of processors (2)
# MEMORY	of the guest (5G)
# BOOT		more words for the kernel, as ipv6.disable=1
# COMMAND	what to run instead of regress/run.sh
# DL_...	as for regress/run.sh
set -eu

build=$1
here=$(cd "$(dirname "$0")" && pwd)
kernel=${KERNEL:-6.1}

if [ "$(id -u)" -ne 0 ]; then
	echo "only root can give a guest all files: run this as root" >&2
	exit 1
fi
package=$(apt-cache pkgnames "linux-image-$kernel." |
    grep -E '^linux-image-[^-]*(-[0-9]+)?-amd64$' | sort -V | tail -1)
if [ -z "$package" ]; then
	echo "apt has no kernel $kernel: use KERNEL=6.1 or KERNEL=6.12, and run" \
	    "apt-get update" >&2
	exit 1
fi
version=${package#linux-image-}
dir=$build/kernels/$version
mods=lib/modules/$version

# the kernel, and the modules that the guest may ask for
if [ ! -e "$dir/complete" ]; then
	rm -rf "$dir"
	mkdir -p "$dir/deb"
	(cd "$dir/deb" &&
	    apt-get -o APT::Sandbox::User=root download -q "$package" >/dev/null)
	dpkg-deb --fsys-tarfile "$dir"/deb/*.deb | tar -xC "$dir" --wildcards \
	    "./boot/vmlinuz*" "./$mods/modules.*" "./$mods/kernel/fs" \
	    "./$mods/kernel/drivers/virtio" "./$mods/kernel/drivers/net/*.ko*" \
	    "./$mods/kernel/net" "./$mods/kernel/lib" "./$mods/kernel/crypto"
	rm -r "$dir/deb"
	find "$dir/lib" -name '*.ko.xz' -exec xz -d {} +
	busybox depmod -b "$dir" "$version"
	: >"$dir/complete"
fi

# first files: what it takes to mount all others
root=$dir/root
rm -rf "$root"
mkdir -p "$root/bin" "$root/lower" "$root/upper" "$root/new"
cp /bin/busybox "$root/bin"
cp "$here/init.sh" "$root/init"
(cd "$dir" && find "$mods" \( -name 'modules.dep*' -o -name '9p*.ko' -o \
    -name 'virtio*.ko' -o -name netfs.ko -o -name fscache.ko -o \
    -name overlay.ko \) -exec cp --parents -t root {} +)
(cd "$root" && find . | busybox cpio -o -H newc 2>/dev/null) >"$dir/initrd"

# what the guest runs, and what it prints
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
trap "exit 1" INT TERM
{
	echo "#!/bin/sh"
	env | sed -n "/^\(DL_\|CI=\|MUST_WORK=\)/s/'/'\\\\''/g
		s/^\(DL_[A-Z]*\|CI\|MUST_WORK\)=\(.*\)/export \1='\2'/p"
	echo "export PATH='$PATH' HOME='$HOME' ${DL_LOG:+DL_LOG=/mnt/log}"
	echo "cd '$here/../..' || exit"
	echo "${COMMAND:-regress/run.sh \"$build\"}"
} >"$out/job"
chmod 755 "$out/job"
: >"$out/said"

# neither mitigations nor a fifth level of pages change a test, and both are
# slow to emulate
qemu-system-x86_64 -accel tcg,thread=multi -cpu "${CPU:-max}" \
    -smp "${CPUS:-2}" -m "${MEMORY:-5G}" -nodefaults -no-reboot \
    -display none -serial "file:$out/console" -monitor none \
    -kernel "$dir/boot/vmlinuz-$version" -initrd "$dir/initrd" \
    -append "console=ttyS0 quiet panic=-1 mitigations=off no5lvl \
	${BOOT:-} dl_modules=$dir" \
    -virtfs local,path=/,mount_tag=root,security_model=none,readonly=on,multidevs=remap \
    -virtfs "local,path=$out,mount_tag=out,security_model=none" &
qemu=$!
trap 'kill "$qemu" 2>/dev/null || :; rm -rf "$out"' EXIT
tail -f --pid="$qemu" "$out/said" &
wait "$qemu" || :
wait
if [ ! -e "$out/rc" ]; then
	echo "the guest ended before the tests; its last messages:" >&2
	tail -20 "$out/console" >&2
	exit 1
fi
[ ! -e "$out/log" ] || cp "$out/log" "$DL_LOG"
exit "$(cat "$out/rc")"
