/* check.h - the shape rules of every operation, one function each, in check_*.c. */
#ifndef BACKEND_CHECK_H
#define BACKEND_CHECK_H

#include "backend/driver.h"

#define X(op) fathom_status be_check_##op(const be_device *dev, const be_##op##_args *args);
BE_OPERATIONS(X)
#undef X

#endif
