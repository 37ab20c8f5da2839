/* plain.h - numbers are written and read with a point, whatever locale the program around the library has. Holds for
 * the calling thread from enter to leave.
 *
 *     locale_t before = plain_enter();
 *     snprintf(text, sizeof text, "%.17g", value);
 *     plain_leave(before); */
#ifndef CORE_PLAIN_H
#define CORE_PLAIN_H

#include <locale.h>

locale_t plain_enter(void);
void plain_leave(locale_t before);

#endif
