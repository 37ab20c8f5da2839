#!/usr/bin/env bash
# package_python.sh - the wheel: it builds, holds what it needs and nothing else of the system but libOpenCL, and works in an
# empty virtual environment with the environment of a user. The tests of the package run on it.
# labels: asan-skip
command -v python3 >/dev/null || skip "python3 is not installed"
python3 -c 'import ensurepip, venv' 2>/dev/null || skip "venv is not installed (python3-venv)"
python3 -m venv tools && tools/bin/pip download --quiet --disable-pip-version-check --retries 0 --no-deps -d download scikit-build-core >/dev/null 2>&1 ||
    skip "pip gets no packages here (no network)"

wheel=$("$SOURCE_DIR/python/wheel" "$BUILD_DIR/python") || fatal "python/wheel failed: $(tail -n 5 "$BUILD_DIR/python/log")"
case $wheel in */fathom_gnn-*-py3-none-manylinux_*.whl) ;; *) fail "the wheel is called $wheel" ;; esac
[ "$(stat -c %s "$wheel")" -lt 40000000 ] || fail "the wheel has $(stat -c %s "$wheel") bytes"
python3 -m zipfile -l "$wheel" >files
for file in fathom/lib/libfathom.so fathom/lib/fathom fathom/include/fathom/fathom.h fathom/torch.py; do
    grep -q "^$file " files || fail "the wheel has no $file"
done
[ ! -e "$BUILD_DIR/fathom_opencl.so" ] || grep -q '^fathom/lib/fathom_opencl.so ' files || fail "the wheel has no OpenCL module"
if grep -E 'libOpenCL|libc\.so|tests/' files; then fail "these do not belong into the wheel"; fi
tar -tzf "$BUILD_DIR"/python/fathom_gnn-*.tar.gz >sources
for file in CMakeLists.txt pyproject.toml host/api/norm.c python/fathom/__init__.py; do
    grep -q "^[^/]*/$file$" sources || fail "the source distribution has no $file"
done

"$BUILD_DIR/python/tools/bin/pip" install --quiet --disable-pip-version-check twine check-wheel-contents >out 2>&1 ||
    fatal "pip: $(cat out)"
"$BUILD_DIR/python/tools/bin/twine" check --strict "$BUILD_DIR"/python/fathom_gnn-* >out || fail "twine: $(cat out)"
"$BUILD_DIR/python/tools/bin/check-wheel-contents" "$wheel" >out || fail "check-wheel-contents: $(cat out)"

# Every Python here: the machine's, and those of pyenv.
count=0
for python in python3 "$HOME"/.pyenv/versions/*/bin/python3; do
    command -v "$python" >/dev/null && "$python" -c 'import sys; sys.exit(not sys.version_info >= (3, 9))' || continue
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    [ ! -e "venv-$version" ] || continue
    [ "$count" -lt 2 ] || [ "${FATHOM_TEST_LONG:-}" = 1 ] || continue # one more than the machine's
    must "$python" -m venv "venv-$version"
    must "venv-$version/bin/pip" install --quiet --disable-pip-version-check "$wheel"
    count=$((count + 1))
    (cd / && as_user "$TEST_TMP/venv-$version/bin/fathom" --version >/dev/null) || fail "Python $version: the command does not run"
    cp -r "$SOURCE_DIR/python/tests" "tests-$version"
    as_user "venv-$version/bin/python" -W ignore -m unittest discover -s "tests-$version" -p 'test_[ah]*.py' >out 2>&1 ||
        fail "Python $version: $(tail -n 40 out)"
    echo "Python $version: $(grep '^Ran' out)"
done
[ "$count" -gt 0 ] || fail "no Python from 3.9 on"
