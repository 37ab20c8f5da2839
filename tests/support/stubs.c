/* stubs.c - setUp and tearDown for tests that need none; weak, so that a test may bring its own. */
#include "unity.h"

__attribute__((weak)) void setUp(void) {}
__attribute__((weak)) void tearDown(void) {}
