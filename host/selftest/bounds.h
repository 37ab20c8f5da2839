/* bounds.h - the bounds of the cases, each with its reason. The relative rounding error of float32 is at most 6e-8, so
 * one rounding costs about 1e-15 in the normalised mean squared error. No bound is above 1e-7; above 1e-10 are only
 * those of long sums. */
#ifndef SELFTEST_BOUNDS_H
#define SELFTEST_BOUNDS_H

#define BOUND(limit, reason) .bound = (limit), .why = (reason)

#define EXACT BOUND(0, "bits are copied, or the outputs are integers")
#define ROUNDED BOUND(1e-13, "a few roundings per element, about 1e-15 each")
#define FUNCTION BOUND(1e-12, "exp, log, sqrt and division within a few units in the last place")
#define SUM BOUND(1e-11, "sums of up to a few hundred terms: n roundings cost about n 1e-15, more where terms cancel")
#define LONG_SUM BOUND(1e-10, "sums of a thousand terms and more that partly cancel: n roundings cost about n 1e-15")
#define OFF_1000 \
    BOUND(3e-9,  \
          "mean 1000, deviation 1: a float near 1000 is rounded by 3e-5 of the deviation; uncentred sums lose 1e-4")
#define VARIANCE_0 \
    BOUND(1e-10, "r = eps^-1/2 = 316, and the folded form takes A t - A mean as a difference of two terms that large")

#define CASE(operation, title, bound_and_why, ...) \
    { .op = BE_OP_##operation, .name = title, bound_and_why, __VA_ARGS__ }
/* Also run before a device is used (cases_check). */
#define QUICK(operation, title, bound_and_why, ...) CASE(operation, title, bound_and_why, .quick = true, __VA_ARGS__)

#endif
