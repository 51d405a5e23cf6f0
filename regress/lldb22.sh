#!/bin/sh
# A second lldb-dap for tests: the packages of version 22 conflict with those
# of 19, so they are unpacked beside the system.  Prints the path of a script
# that runs it; fails where it cannot be had.
set -u

if [ "$(id -u)" -eq 0 ]; then
	dir=/var/cache/debuglantern-tests/lldb-22
elif mkdir -p "${HOME:-}/.cache/debuglantern-tests" 2>/dev/null; then
	dir=$HOME/.cache/debuglantern-tests/lldb-22
else
	dir=/var/tmp/debuglantern-tests-$(id -u)/lldb-22
fi
script=$dir/lldb-dap
if [ -x "$script" ]; then
	echo "$script"
	exit 0
fi
# of several tests that want it at once, one makes it
mkdir -p "$(dirname "$dir")" || exit 1
exec 9>"$dir.lock" || exit 1
flock 9
if [ -x "$script" ]; then
	echo "$script"
	exit 0
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT INT TERM
mkdir "$work/debs"
cd "$work/debs" || exit 1
apt-get download lldb-22 liblldb-22 libllvm22 libclang-cpp22 \
    python3-lldb-22 >"$work/log" 2>&1 || {
	echo "lldb-22 cannot be downloaded:" >&2
	tail -3 "$work/log" >&2
	exit 1
}
for deb in *.deb; do
	dpkg-deb -x "$deb" "$work/root" || exit 1
done
cat >"$work/root/lldb-dap" <<EOF
#!/bin/sh
LD_LIBRARY_PATH=$dir/usr/lib/x86_64-linux-gnu:$dir/usr/lib/llvm-22/lib
export LD_LIBRARY_PATH
exec $dir/usr/lib/llvm-22/bin/lldb-dap "\$@"
EOF
chmod -R a+rX "$work/root"
chmod 755 "$work/root/lldb-dap"
rm -rf "$dir" && mv "$work/root" "$dir" || exit 1
# what it needs besides must be there
"$script" --help >/dev/null 2>&1 || {
	echo "lldb-dap 22 does not run here" >&2
	rm -rf "$dir"
	exit 1
}
echo "$script"
