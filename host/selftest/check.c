/* check.c - the quick cases: what a device must get right before it is used. Some drivers compute wrongly and report
 * nothing. */
#include <stdio.h>

#include "core/mem.h"
#include "selftest/cases.h"

static fathom_status refuse(const be_device *dev, const op_case *c, const char *detail) {
    const be_info *info = be_device_info(dev);
    return fail(
        FATHOM_DEVICE,
        "%s (%s) computes the operation %s wrongly: case %s: %s; update its driver or use --device cpu; `fathom "
        "selftest --device %s` tests everything, --trust-device uses it all the same",
        info->name, info->platform, be_op_name(c->op), c->name, detail, info->word);
}

/* The sentence begins with the call that failed, as everywhere. */
static fathom_status not_run(fathom_status status, const op_case *c) {
    char sentence[CORE_MESSAGE_MAX];
    snprintf(sentence, sizeof sentence, "%s", fathom_last_error());
    return fail(status, "%.1500s (check of %s, case %s)", sentence, be_op_name(c->op), c->name);
}

static fathom_status check_case(be_device *dev, const op_case *c) {
    case_result result;
    fathom_status status = case_run(dev, c, &result);
    if (status != FATHOM_OK) /* it did not run: the device was lost, or memory is short */
        return not_run(status, c);
    return result.passed ? FATHOM_OK : refuse(dev, c, result.detail);
}

fathom_status cases_check(be_device *dev, uint64_t operations) {
    uint64_t *checked = be_checked(dev), held = 0;
    int count;
    const op_case *cases = cases_all(&count);
    for (int i = 0; i < count; i++) {
        uint64_t bit = UINT64_C(1) << cases[i].op;
        if (!cases[i].quick || !(operations & bit) || (*checked & bit))
            continue;
        TRY(check_case(dev, &cases[i]));
        held |= bit;
    }
    *checked |= held;
    return FATHOM_OK;
}
