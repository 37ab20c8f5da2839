/* cpu_blas.c - OpenBLAS's thread count, which is global to the process: 1 while this library multiplies, else as the
 * program set it. The blocks of the queue are the parallelism; OpenBLAS threads inside them would be slower, and the
 * bits would depend on their number. */
#include <cblas.h>
#include <pthread.h>

#include "backend/cpu/cpu.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int users, saved; /* queues that run now; the count to restore after the last of them */

void cpu_blas_begin(void) {
    pthread_mutex_lock(&lock);
    if (users++ == 0) {
        saved = openblas_get_num_threads();
        openblas_set_num_threads(1);
    }
    pthread_mutex_unlock(&lock);
}

void cpu_blas_end(void) {
    pthread_mutex_lock(&lock);
    if (--users == 0)
        openblas_set_num_threads(saved);
    pthread_mutex_unlock(&lock);
}
