/* validate_ops.h - argument validation, one function per operation, in validate_*.c. */
#ifndef BACKEND_VALIDATE_OPS_H
#define BACKEND_VALIDATE_OPS_H

#include "backend/driver.h"

#define X(op) fathom_status be_validate_##op(const be_device *dev, const be_##op##_args *args);
BE_OPERATIONS(X)
#undef X

#endif
