#!/usr/bin/env bash
# unit_python.sh - the Python package on the library of the build tree: python/tests but for those of fathom.torch. Under the
# address sanitizer its runtime is loaded into Python.
python=
for candidate in python3 /usr/bin/python3; do
    ! "$candidate" -c 'import numpy, sys; sys.exit(not sys.version_info >= (3, 9))' 2>/dev/null || { python=$candidate; break; }
done
[ -n "$python" ] || skip "no Python from 3.9 on with numpy (python3-numpy)"
run=(env FATHOM_LIBRARY="$BUILD_DIR/libfathom.so" PYTHONPATH="$SOURCE_DIR/python" PYTHONDONTWRITEBYTECODE=1)
symbols=$(nm -D "$BUILD_DIR/libfathom.so" 2>/dev/null || true)
if [[ $symbols == *__asan_init* ]]; then
    run+=(LD_PRELOAD="$("${CC:-cc}" -print-file-name=libasan.so) $("${CC:-cc}" -print-file-name=libstdc++.so.6)" ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0")
elif [[ $symbols == *__tsan_init* ]]; then
    skip "Python is not built for the thread sanitizer"
fi
"${run[@]}" "$python" -W ignore -m unittest discover -s "$SOURCE_DIR/python/tests" -p 'test_[ah]*.py' >out 2>&1 || fail "$(tail -n 60 out)"
grep '^Ran' out
