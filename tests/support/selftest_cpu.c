/* selftest_cpu.c - every case on the CPU back end, for builds without the command: links core, backend and selftest
 * alone (package_arm64.sh). */
#include <stdio.h>

#include "selftest/cases.h"

int main(void) {
    be_device *dev;
    if (be_open(&dev, "cpu", NULL) != FATHOM_OK) {
        fprintf(stderr, "%s\n", fathom_last_error());
        return 1;
    }
    int count, failed = 0;
    const op_case *cases = cases_all(&count);
    for (int i = 0; i < count; i++) {
        case_result r;
        fathom_status status = case_run(dev, &cases[i], &r);
        if (status == FATHOM_OK && r.passed)
            continue;
        failed++;
        fprintf(stderr, "%s, case %s: %s\n", be_op_name(cases[i].op), cases[i].name,
                status == FATHOM_OK ? r.detail : fathom_last_error());
    }
    printf("%s: %d cases, %d failed\n", be_device_info(dev)->driver, count, failed);
    be_close(dev);
    return failed > 0;
}
