/* stubs.c - default setUp and tearDown; weak, so that a test can define its own. */
#include "unity.h"

__attribute__((weak)) void setUp(void) {}
__attribute__((weak)) void tearDown(void) {}
