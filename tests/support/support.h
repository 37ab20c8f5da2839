/* support.h - included by every C test: Unity, the end of a test program and
 * paths of test data.
 *
 *     int main(void) {
 *         UNITY_BEGIN();
 *         RUN_TEST(a_case);
 *         return support_end();
 *     }
 *
 * A test that cannot run here says why: TEST_IGNORE_MESSAGE("no OpenCL device").
 * The reason is printed again in the summary of `./quickstart test`. */
#ifndef SUPPORT_SUPPORT_H
#define SUPPORT_SUPPORT_H

#include <stdbool.h>

#include "unity.h"

/* Replaces UNITY_END(): 0 when all passed or some were skipped, 77
 * when every test was skipped, 1 when one failed or none ran. */
int support_end(void);

/* The path of a file of the source tree ("tests/golden/x.npz"), and of the data
 * folder next to it ($FATHOM_SHARED, else ../shared): NULL when that file does
 * not exist. Both stay valid until the next call. */
const char *support_source(const char *relative);
const char *support_shared(const char *relative);

/* `./quickstart test --long` and `--devices all` (FATHOM_TEST_LONG=1,
 * FATHOM_TEST_DEVICES=all): the slow amounts, and OpenCL devices beyond PoCL. */
bool support_long(void);
bool support_all_devices(void);

#endif
