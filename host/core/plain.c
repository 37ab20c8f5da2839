/* plain.c - see plain.h. */
#include "core/plain.h"

#include <pthread.h>

static locale_t plain_locale;

static void make_locale(void) { plain_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); }

locale_t plain_enter(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_locale);
    return plain_locale ? uselocale(plain_locale) : (locale_t)0;
}

void plain_leave(locale_t before) {
    if (before)
        uselocale(before);
}
