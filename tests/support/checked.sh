#!/usr/bin/env bash
# checked.sh COMMAND...: a test under the address sanitizer. Its leak checker stops all threads when the program ends,
# and rarely crashes itself when a thread of an OpenCL driver is just ending. It has then judged nothing: the test is
# run once more, and what it says the second time counts.
output=$(mktemp)
trap 'rm -f "$output"' EXIT
"$@" >"$output" 2>&1
status=$?
if [ "$status" != 0 ] && grep -q "LeakSanitizer has encountered a fatal error" "$output"; then
    echo "the leak checker crashed: once more"
    "$@" >"$output" 2>&1
    status=$?
fi
cat "$output"
exit "$status"
