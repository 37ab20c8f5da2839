/* bench_html.h - pages of benchmarks, on host/report's writer. */
#ifndef BENCH_BENCH_HTML_H
#define BENCH_BENCH_HTML_H

#include "bench/bench.h"
#include "report/chart.h"
#include "report/page.h"

/* Scores and workloads of one run, or of `count` runs that have names. */
fathom_status bench_html_workloads(text_buf *out, const struct bench_record *records, size_t count);

/* The page of `fathom bench compare`: several machines. */
fathom_status bench_write_compare_html(const char *path, const struct bench_record *records, size_t count);

#endif
