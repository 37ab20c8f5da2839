/* ocl_inexact.c - a device whose single precision is only as exact as OpenCL requires, for ocl_model.c: modifies the
 * source of fathom's programs before the driver compiles it.
 *
 *   OCL_LAYER_INEXACT=up|down|mixed[:TIMES]    results deviate from the driver's: all larger in magnitude, all smaller,
 * or either depending on their bits; TIMES multiplies the allowed error, default 1
 *
 * Division (2.5 ulp allowed): the divisor becomes its neighbour, which moves the quotient by half to two ulp. sqrt,
 * exp, log (3 ulp): the result moves by two; rsqrt (2 ulp): by one. What every device must return stays exact: 0,
 * infinity, NaN, exp(0) = 1, log(1) = 0; and denormals, which a device may flush. */
#include "ocl_inexact.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* layer_near moves a number by ulps. exp, log, sqrt and rsqrt are the driver's, possibly macros, until the last lines
 * redefine them. Integer division is unchanged. */
static const char prelude[] =
    "#define OF(T) static inline T __attribute__((overloadable))\n"
    "#define NEAR(F, U)                                                                        \\\n"
    "    OF(F) layer_near(F y, uint far) {                                                     \\\n"
    "        U u = as_##U(y), size = u & 0x7fffffffu;                                          \\\n"
    "        return select(y, as_##F(u + LAYER_STEP(u) * (far * LAYER_TIMES)),                 \\\n"
    "                      (size > 0x00810000u) & (size < 0x7f7f0000u));                       \\\n"
    "    }                                                                                     \\\n"
    "    OF(F) layer_divisor(F x) { return layer_near(x, 1u); }                                \\\n"
    "    OF(F) layer_exp(F x) { return select(layer_near(exp(x), 2u), (F)(1.0f), x == 0.0f); } \\\n"
    "    OF(F) layer_log(F x) { return layer_near(log(x), 2u); }                               \\\n"
    "    OF(F) layer_sqrt(F x) { return layer_near(sqrt(x), 2u); }                             \\\n"
    "    OF(F) layer_rsqrt(F x) { return layer_near(rsqrt(x), 1u); }\n"
    "#define SAME(T) OF(T) layer_divisor(T x) { return x; }\n"
    "NEAR(float, uint) NEAR(float4, uint4) NEAR(float16, uint16)\n"
    "SAME(int) SAME(uint) SAME(long) SAME(ulong)\n"
    "#undef exp\n#undef log\n#undef sqrt\n#undef rsqrt\n"
    "#define exp layer_exp\n#define log layer_log\n#define sqrt layer_sqrt\n#define rsqrt layer_rsqrt\n";

/* Direction in which a number with the bits u moves. */
static const struct side {
    const char *name, *step;
} sides[] = {{"up", "(u * 0u + 1u)"}, {"down", "(u * 0u - 1u)"}, {"mixed", "((u * 2654435761u >> 31) * 2u - 1u)"}};

static const char *step;
static unsigned times;

void inexact_settings(void) {
    const char *text = getenv("OCL_LAYER_INEXACT"), *colon = text ? strchr(text, ':') : NULL;
    size_t length = colon ? (size_t)(colon - text) : text ? strlen(text) : 0;
    step = NULL;
    times = colon ? (unsigned)strtoul(colon + 1, NULL, 10) : 1;
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++)
        if (length == strlen(sides[i].name) && strncmp(text, sides[i].name, length) == 0)
            step = sides[i].step;
}

/* ---- source ---- */

static const char *past_brackets(const char *at) {
    int depth = 0;
    do {
        depth += *at == '(' || *at == '[';
        depth -= *at == ')' || *at == ']';
    } while (*at && (at++, depth > 0));
    return at;
}

/* End of the operand that begins at `at`: casts before a name, number or bracket, then calls, indices, members. */
static const char *past_operand(const char *at) {
    while (*at == '(') {
        at = past_brackets(at);
        if (!isalnum((unsigned char)*at) && *at != '(')
            return at;
    }
    while (isalnum((unsigned char)*at) || *at == '_' || *at == '.')
        at++;
    while (*at == '(' || *at == '[')
        at = past_brackets(at);
    return at;
}

/* End of the comment or preprocessor line that begins at `at`, or NULL. */
static const char *past_comment(const char *at, bool line_begins) {
    const char *stop = NULL;
    if (strncmp(at, "/*", 2) == 0)
        stop = strstr(at + 2, "*/");
    else if (strncmp(at, "//", 2) == 0 || (line_begins && *at == '#'))
        stop = strchr(at, '\n');
    else
        return NULL;
    return !stop ? at + strlen(at) : *stop == '*' ? stop + 2 : stop;
}

/* Writes `from` with every divisor wrapped: a / b becomes a / layer_divisor(b). */
static void wrap_divisors(FILE *to, const char *from) {
    bool line_begins = true;
    for (const char *at = from, *stop; *at; line_begins = at[-1] == '\n') {
        if ((stop = past_comment(at, line_begins)) != NULL) {
            fwrite(at, 1, (size_t)(stop - at), to);
            at = stop;
        } else if (*at == '/' && at[1] == ' ') {
            at += 2;
            stop = past_operand(at);
            fprintf(to, "/ layer_divisor(%.*s)", (int)(stop - at), at);
            at = stop;
        } else {
            fputc(*at++, to);
        }
    }
}

char *inexact_source(cl_uint count, const char **parts, const size_t *lengths) {
    char *given = NULL, *made = NULL;
    size_t size;
    FILE *file = step ? open_memstream(&given, &size) : NULL;
    if (!file)
        return NULL;
    for (cl_uint i = 0; i < count; i++)
        fwrite(parts[i], 1, lengths && lengths[i] ? lengths[i] : strlen(parts[i]), file);
    fclose(file);
    file = strstr(given, "COMMON_H") ? open_memstream(&made, &size) : NULL; /* programs of CLBlast stay unchanged */
    if (file) {
        fprintf(file, "#define LAYER_TIMES %uu\n#define LAYER_STEP(u) %s\n%s", times, step, prelude);
        wrap_divisors(file, given);
        fclose(file);
    }
    free(given);
    return made;
}
