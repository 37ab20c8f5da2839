#!/usr/bin/env bash
# package_debian_root.sh - a minimal Debian (debootstrap) installs and uses the packages: the command, the OpenCL module only
# with its package, a program with the library; purging them leaves no file. labels: asan-skip
need_command
[ "${FATHOM_TEST_LONG:-}" = 1 ] || skip "takes minutes and a network: ./quickstart test --long"
[ "$(id -u)" = 0 ] || skip "only root can make a root file system"
for tool in cpack dpkg-shlibdeps debootstrap; do
    command -v $tool >/dev/null || skip "$tool is not installed"
done
[ -e "$BUILD_DIR/fathom_opencl.so" ] || skip "built without the OpenCL module"
cpack --config "$BUILD_DIR/CPackConfig.cmake" -B "$PWD/packages" >log 2>&1 || fatal "cpack: $(tail -5 log)"
. /etc/os-release
[ "${ID:-}" = debian ] || skip "root file systems are made for Debian only"
. "$SOURCE_DIR/tests/support/debian_root.sh"
root=$PWD/root
trap 'rm -rf "$root"' EXIT
why=$(make_root "$VERSION_CODENAME" "$root") || skip "$why"
cp packages/*.deb "$root/tmp/"
cp "$SOURCE_DIR/examples/custom_graph.c" "$root/tmp/"
# inside COMMAND: runs it in the root file system, with an empty environment.
inside() { in_root "$root" bash -ec "$1" >log 2>&1 || fatal "in the root file system: $1: $(tail -5 log)"; }
inside 'apt-get update -qq && cd /tmp && apt-get install -y -qq --no-install-recommends ./fathom_*.deb'
inside 'fathom train --layers 6 --epochs 20 --json >/tmp/run.json && fathom selftest --op gemm && fathom devices'
grep -q 'fathom_opencl.so is not there' log || fail "a module is reported without its package: $(cat log)"
inside 'cd /tmp && apt-get install -y -qq --no-install-recommends ./fathom-opencl_*.deb && fathom devices'
if grep -q 'is not there' log; then fail "the module is not found: $(cat log)"; fi
inside 'cd /tmp && apt-get install -y -qq --no-install-recommends ./libfathom0_*.deb ./libfathom-dev_*.deb gcc libc6-dev pkg-config'
inside 'cd /tmp && cc custom_graph.c $(pkg-config --cflags --libs fathom) -o custom_graph && ./custom_graph'
cat log
inside 'apt-get purge -y -qq fathom fathom-opencl libfathom0 libfathom-dev && ! find /usr -name "*fathom*" | grep .'
