/* c_locale.h - the C locale for the calling thread from enter to leave: numbers are written and read with a decimal
 * point in whatever locale the calling program runs.
 *
 *     locale_t before = c_locale_enter();
 *     snprintf(text, sizeof text, "%.17g", value);
 *     c_locale_leave(before); */
#ifndef CORE_C_LOCALE_H
#define CORE_C_LOCALE_H

#include <locale.h>

locale_t c_locale_enter(void);
void c_locale_leave(locale_t before);

#endif
