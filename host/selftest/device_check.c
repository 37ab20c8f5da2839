/* device_check.c - runs the quick cases before a device is used: some drivers compute wrong results without an error.
 */
#include "core/mem.h"
#include "selftest/cases.h"

static fathom_status refuse(const be_device *dev, const op_case *c, const char *detail) {
    const be_info *info = be_device_info(dev);
    return fail(
        FATHOM_DEVICE,
        "%s (%s) computes the operation %s wrongly: case %s: %s; update its driver or use --device cpu; `fathom "
        "selftest --device %s` tests everything, --trust-device uses it all the same",
        info->name, info->platform, be_op_name(c->op), c->name, detail, info->selector);
}

static fathom_status check_case(be_device *dev, const op_case *c) {
    case_result result;
    fathom_status status = case_run(dev, c, &result);
    if (status != FATHOM_OK) /* not run: device lost, or out of memory */
        return fail_suffix(status, " (check of %s, case %s)", be_op_name(c->op), c->name);
    return result.passed ? FATHOM_OK : refuse(dev, c, result.detail);
}

fathom_status cases_check(be_device *dev, uint64_t operations) {
    uint64_t *checked = be_checked(dev), passed = 0;
    int count;
    const op_case *cases = cases_all(&count);
    for (int i = 0; i < count; i++) {
        uint64_t bit = UINT64_C(1) << cases[i].op;
        if (!cases[i].quick || !(operations & bit) || (*checked & bit))
            continue;
        TRY(check_case(dev, &cases[i]));
        passed |= bit;
    }
    *checked |= passed;
    return FATHOM_OK;
}
