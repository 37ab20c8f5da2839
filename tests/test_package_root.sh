#!/usr/bin/env bash
# test_package_root.sh - a bare Debian (debootstrap) installs and uses the packages: the command, the OpenCL module only
# when its package is there, a program against the library; and nothing is left when they are purged. labels: asan-skip
need_command
[ "${FATHOM_TEST_LONG:-}" = 1 ] || skip "takes minutes and a network: ./quickstart test --long"
[ "$(id -u)" = 0 ] || skip "a root of its own can be made by root only"
for tool in cpack dpkg-shlibdeps debootstrap; do
    command -v $tool >/dev/null || skip "$tool is not installed"
done
[ -e "$BUILD_DIR/fathom_opencl.so" ] || skip "built without the OpenCL module"
cpack --config "$BUILD_DIR/CPackConfig.cmake" -B "$PWD/packages" >log 2>&1 || fail "cpack: $(tail -5 log)"
. /etc/os-release
[ "${ID:-}" = debian ] || skip "a bare root of this system is not made, only of Debian"
# The mirror this machine uses itself.
find /etc/apt -name '*.list' -o -name '*.sources' | xargs -r cat |
    sed -nE 's/^URIs: *([^ ]+).*/\1/p; s/^deb +(\[[^]]*\] +)?([^ ]+) .*/\2/p' >mirrors
mirror=$(sed -n '/security/d; p; q' mirrors)
[ -n "$mirror" ] || skip "this machine's package lists name no mirror"
root=$PWD/root
trap 'umount -q "$root/proc" 2>/dev/null || true; rm -rf "$root"' EXIT
if ! debootstrap --variant=minbase "$VERSION_CODENAME" "$root" "$mirror" >log 2>&1; then
    skip "debootstrap did not get through: $(tail -1 log)"
fi
cp packages/*.deb "$root/tmp/"
cp "$SOURCE_DIR/examples/custom_graph.c" "$root/tmp/"
for conf in /etc/apt/apt.conf.d/*; do # a proxy, if this machine has one
    if grep -qi '^ *acquire.*proxy' "$conf"; then cp "$conf" "$root/etc/apt/apt.conf.d/"; fi
done
cp /etc/resolv.conf "$root/etc/" 2>/dev/null || true
mount -t proc proc "$root/proc" || true
# inside COMMAND: in the bare root, with an empty environment.
inside() {
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
        http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" chroot "$root" bash -ec "$1" >log 2>&1 ||
        fail "in the bare root: $1: $(tail -5 log)"
}
inside 'apt-get update -qq && cd /tmp && apt-get install -y -qq --no-install-recommends ./fathom_*.deb'
inside 'fathom train --layers 6 --epochs 20 --json >/tmp/run.json && fathom selftest --op gemm && fathom devices'
grep -q 'fathom_opencl.so is not there' log || fail "the module is said to be there without its package: $(cat log)"
inside 'cd /tmp && apt-get install -y -qq --no-install-recommends ./fathom-opencl_*.deb && fathom devices'
if grep -q 'is not there' log; then fail "the module is not found: $(cat log)"; fi
inside 'cd /tmp && apt-get install -y -qq --no-install-recommends ./libfathom0_*.deb ./libfathom-dev_*.deb gcc libc6-dev pkg-config'
inside 'cd /tmp && cc custom_graph.c $(pkg-config --cflags --libs fathom) -o custom_graph && ./custom_graph'
cat log
inside 'apt-get purge -y -qq fathom fathom-opencl libfathom0 libfathom-dev && ! find /usr -name "*fathom*" | grep .'
