#!/usr/bin/env bash
# unit_python_torch.sh - fathom.torch, and the notebook, with a Python that has torch: $FATHOM_TORCH_PYTHON, the environment of
# bench/peers, or python3. With torch_geometric its own test of the norm runs, too, on our class.
find_python() {
    local python
    for python in "${FATHOM_TORCH_PYTHON:-}" "${PEERS_VENV:-$HOME/.cache/fathom/peers}/bin/python" python3 /usr/bin/python3; do
        if [ -n "$python" ] && "$python" -c 'import numpy, torch' 2>/dev/null; then
            echo "$python"
            return
        fi
    done
}
python=$(find_python)
[ -n "$python" ] || skip "torch is not installed (python3-torch, or FATHOM_TORCH_PYTHON names a Python that has it)"
pattern='test_torch*.py'
run=(env FATHOM_LIBRARY="$BUILD_DIR/libfathom.so" PYTHONPATH="$SOURCE_DIR/python" PYTHONDONTWRITEBYTECODE=1)
symbols=$(nm -D "$BUILD_DIR/libfathom.so" 2>/dev/null || true)
if [[ $symbols == *__asan_init* ]]; then
    run+=(LD_PRELOAD="$("${CC:-cc}" -print-file-name=libasan.so) $("${CC:-cc}" -print-file-name=libstdc++.so.6)" ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0")
    pattern=test_torch.py # not the notebook, which takes minutes there
elif [[ $symbols == *__tsan_init* ]]; then
    skip "Python is not built for the thread sanitizer"
fi
"${run[@]}" "$python" -W ignore -m unittest discover -s "$SOURCE_DIR/python/tests" -p "$pattern" >out 2>&1 || fail "$(tail -n 60 out)"
grep '^Ran' out
