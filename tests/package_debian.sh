#!/usr/bin/env bash
# package_debian.sh - the Debian packages: CPack makes each, with the right files and dependencies; the packaged command finds
# the OpenCL module; lintian reports nothing except the overrides in cmake/package, which say why. labels: asan-skip
need_command
for tool in cpack dpkg-deb dpkg-shlibdeps file; do
    command -v $tool >/dev/null || skip "$tool is not installed (cmake, dpkg-dev, file)"
done
[ -e "$BUILD_DIR/fathom_opencl.so" ] || skip "built without the OpenCL module"
cpack --config "$BUILD_DIR/CPackConfig.cmake" -B "$PWD/packages" >log 2>&1 || fatal "cpack: $(tail -5 log)"
version=$(sed -nE 's/^#define FATHOM_VERSION_STRING "(.*)".*/\1/p' "$SOURCE_DIR/include/fathom/fathom.h")

# package NAME: prints the path of its file.
package() { echo "packages/$1_${version}_$(dpkg --print-architecture).deb"; }
field() { dpkg-deb -f "$(package "$1")" "$2"; }
holds() { grep -qE "$2" "$1.list" || fail "$1 does not contain $2"; }
for name in fathom libfathom0 libfathom-dev fathom-opencl; do
    [ -f "$(package $name)" ] || fatal "no package $name: $(ls packages)"
    dpkg-deb -c "$(package $name)" >$name.list
    holds $name "usr/share/doc/$name/copyright"
done
holds fathom 'usr/bin/fathom$'
holds fathom 'share/man/man1/fathom-train\.1\.gz$'
holds fathom 'share/bash-completion/completions/fathom$'
holds libfathom0 'libfathom\.so\.0 ->'
holds libfathom-dev 'include/fathom/fathom\.h$'
holds libfathom-dev 'include/fathom/opencl\.h$'
holds libfathom-dev 'libfathom\.a$'
holds fathom-opencl 'fathom/fathom_opencl\.so$'
for module in openmpi:libopenmpi mpich:libmpich metis:libmetis; do
    [ -e "$BUILD_DIR/fathom_${module%:*}.so" ] || continue
    dpkg-deb -c "$(package "fathom-${module%:*}")" >"fathom-${module%:*}.list"
    holds "fathom-${module%:*}" "fathom/fathom_${module%:*}\.so\$"
    [[ $(field "fathom-${module%:*}" Depends) == *${module#*:}* ]] || fail "the ${module%:*} module does not depend on ${module#*:}"
    for name in fathom libfathom0; do
        [[ $(field $name Depends) != *${module#*:}* ]] || fail "$name depends on ${module#*:}: $(field $name Depends)"
    done
done
[[ $(field fathom-opencl Depends) == *libclblast1* ]] || fail "the module does not depend on CLBlast"
[[ $(field fathom-opencl Recommends) == *opencl-icd* ]] || fail "the module does not recommend a driver"
[[ $(field fathom-opencl Depends) != *-icd,* && $(field fathom-opencl Depends) != *pocl* ]] || fail "the module depends on a driver"
[[ $(field fathom Depends) != *[Oo]pen[Cc][Ll]* ]] || fail "the command depends on OpenCL: $(field fathom Depends)"
[[ $(field libfathom-dev Depends) == "libfathom0 (= $version)" ]] || fail "libfathom-dev depends on $(field libfathom-dev Depends)"

# --- unpacked: the command finds the module where the packages install it, and names it where it is missing ---
mkdir home
for name in fathom libfathom0 libfathom-dev; do dpkg-deb -x "$(package $name)" unpacked; done
packaged() { (cd / && PATH=$TEST_TMP/unpacked/usr/bin:/usr/bin:/bin as_user fathom devices) >notes 2>&1 || fail "the packaged command: $(cat notes)"; }
packaged
[ -n "$(module_installed)" ] || grep -q "is not there.*$PWD/unpacked/usr/bin" notes || fail "the packaged command needs no module: $(cat notes)"
dpkg-deb -x "$(package fathom-opencl)" unpacked
packaged
! grep -q 'OpenCL module' notes || fail "the packaged command finds no module: $(cat notes)"

if command -v lintian >/dev/null; then
    lintian --allow-root --fail-on error,warning packages/*.deb >lint 2>&1 || fail "lintian: $(cat lint)"
    for overrides in "$SOURCE_DIR"/cmake/package/*.lintian-overrides; do
        grep -q '^#' "$overrides" || fail "$overrides gives no reason"
    done
else
    echo "lintian is not installed: not asked"
fi
