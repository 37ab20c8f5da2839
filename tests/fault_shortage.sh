# fault_shortage.sh - a device with too little memory: PoCL limited to 1 GiB, models of increasing size. A model that fits is
# trained; one that does not is refused with a message and exit code 6, no signal, no object left alive.
# labels: opencl asan-skip
need_command
need_layer
[ -f /etc/OpenCL/vendors/pocl.icd ] || skip "no PoCL, whose memory can be limited; install pocl-opencl-icd"
export OCL_ICD_VENDORS=/etc/OpenCL/vendors/pocl.icd POCL_MEMORY_LIMIT=1 OPENCL_LAYERS=$layer OCL_LAYER_REPORT=$TEST_TMP/report
"$FATHOM" devices 2>/dev/null | grep -q opencl:0 || skip "no OpenCL device"
sizes="40:128 700:256 1000:256 1:60000"
[ "${FATHOM_TEST_LONG:-}" != 1 ] ||
    sizes="10:64 50:64 40:128 200:128 500:128 1000:128 50:256 200:256 400:256 600:256 700:256 760:256 800:256 850:256 900:256 1000:256 2:4096 4:4096 2:16384 2:60000"
tried=0 fired=0
for size in $sizes; do
    code=0
    timeout 300 "$FATHOM" train --device opencl:0 --data karate --norm none --layers "${size%:*}" --hidden "${size#*:}" --epochs 1 --quiet >out 2>err || code=$?
    tried=$((tried + 1))
    case $code in
    0 | 5) ;;
    6) fired=$((fired + 1)) && grep -q 'memory\|bytes' err || fail "$size: $(cat err)" ;;
    *) fail "$size layers:width exits with $code: $(cat err)" ;;
    esac
    for kind in context queue mem program kernel event; do
        [ "$(sed -n "s/^live $kind //p" report)" = 0 ] || fail "$size leaves objects of kind $kind alive"
    done
done
[ "$fired" -gt 0 ] && [ "$fired" -lt "$tried" ] || fail "$fired of $tried sizes were refused"
tally 1,2,3 "models of rising size on 1 GiB" $tried $fired $fired
