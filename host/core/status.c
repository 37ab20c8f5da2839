/* status.c - status names and the message of the last failure, per thread. */
#include "core/status.h"

#include <stdio.h>
#include <string.h>

#include "core/escape.h"

static _Thread_local char message[CORE_MESSAGE_MAX];

const char *fathom_version(void) { return FATHOM_VERSION_STRING; }

const char *fathom_status_name(fathom_status status) {
    switch (status) {
#define X(name, text)   \
    case FATHOM_##name: \
        return #name;
        STATUS_LIST(X)
#undef X
    }
    return "UNKNOWN";
}

const char *fathom_status_text(fathom_status status) {
    switch (status) {
#define X(name, text)   \
    case FATHOM_##name: \
        return text;
        STATUS_LIST(X)
#undef X
    }
    return "unknown status";
}

const char *fathom_last_error(void) { return message; }

fathom_status vfail(fathom_status status, const char *format, va_list args) {
    char raw[CORE_MESSAGE_MAX];
    vsnprintf(raw, sizeof raw, format, args);
    /* Arguments may be untrusted names. Newlines are kept where the format has some, and when a message is restored. */
    escape_copy(message, sizeof message, raw, strchr(format, '\n') || strcmp(format, "%s") == 0);
    return status;
}

fathom_status fail(fathom_status status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vfail(status, format, args);
    va_end(args);
    return status;
}

fathom_status fail_prefix(fathom_status status, const char *format, ...) {
    char tail[CORE_MESSAGE_MAX];
    memcpy(tail, message, sizeof tail);
    va_list args;
    va_start(args, format);
    vfail(status, format, args);
    va_end(args);
    size_t used = strlen(message);
    snprintf(message + used, sizeof message - used, "%s", tail);
    return status;
}

fathom_status fail_suffix(fathom_status status, const char *format, ...) {
    char head[CORE_MESSAGE_MAX];
    memcpy(head, message, sizeof head);
    va_list args;
    va_start(args, format);
    vfail(status, format, args); /* message = the suffix, escaped */
    va_end(args);
    size_t used = strlen(head), length = strlen(message) + 1;
    if (used > sizeof message - length)
        used = sizeof message - length;
    memmove(message + used, message, length);
    memcpy(message, head, used);
    return status;
}
