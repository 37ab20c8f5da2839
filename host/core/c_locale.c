/* c_locale.c - see c_locale.h. */
#include "core/c_locale.h"

#include <pthread.h>

static locale_t c_locale;

static void make_locale(void) { c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); }

locale_t c_locale_enter(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_locale);
    return c_locale ? uselocale(c_locale) : (locale_t)0;
}

void c_locale_leave(locale_t before) {
    if (before)
        uselocale(before);
}
