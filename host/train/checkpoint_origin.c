/* checkpoint_origin.c - metadata about the preparation of the training input, which eval repeats. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/c_locale.h"
#include "train/checkpoint.h"

checkpoint_origin checkpoint_origin_unknown(void) { return (checkpoint_origin){.missing_rate = NAN, .binarised = -1}; }

checkpoint_origin checkpoint_origin_of(const data_set *set) {
    checkpoint_origin o = {.feature_norm = set->norm, .missing_rate = set->missing_rate, .binarised = set->binarised};
    snprintf(o.seed, sizeof o.seed, "%" PRIu64, set->seed);
    snprintf(o.features, sizeof o.features, "%s", set->made_features ? set->made_features : "");
    if (set->split.name && strlen(set->split.name) < sizeof o.split)
        snprintf(o.split, sizeof o.split, "%s", set->split.name);
    snprintf(o.split_sha256, sizeof o.split_sha256, "%s", set->split.sha256);
    snprintf(o.data_sha256, sizeof o.data_sha256, "%s", set->sha256);
    return o;
}

/* ---- writing ---- */

size_t checkpoint_origin_meta(st_meta_entry meta[CHECKPOINT_ORIGIN_KEYS], char number[32], const checkpoint_origin *o) {
    size_t count = 0;
    if (o->feature_norm != DATA_NORM_AUTO)
        meta[count++] = (st_meta_entry){"feature_norm", data_norm_name(o->feature_norm)};
    if (!isnan(o->missing_rate)) {
        checkpoint_print_real(number, 32, o->missing_rate);
        meta[count++] = (st_meta_entry){"missing_rate", number};
    }
    if (o->binarised >= 0)
        meta[count++] = (st_meta_entry){"binarised", o->binarised ? "true" : "false"};
    const st_meta_entry texts[] = {{"features", o->features},
                                   {"seed", o->seed},
                                   {"split", o->split},
                                   {"split_sha256", o->split_sha256},
                                   {"data_sha256", o->data_sha256}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].value[0])
            meta[count++] = texts[i];
    return count;
}

/* ---- reading ---- */

static fathom_status bad(const char *key, const char *value, const char *wanted) {
    return fail(FATHOM_DATA, "the metadata %s of the checkpoint is '%.80s', not %s", key, value, wanted);
}

static fathom_status read_norm(data_norm *norm, const char *text) {
    for (int i = 0; text && i < DATA_NORMS; i++)
        if (strcmp(text, data_norm_name((data_norm)i)) == 0) {
            *norm = (data_norm)i;
            return FATHOM_OK;
        }
    return text ? bad("feature_norm", text, "row or none") : FATHOM_OK;
}

static fathom_status read_rate(double *rate, const char *text) {
    char *end;
    if (!text)
        return FATHOM_OK;
    locale_t before = c_locale_enter();
    *rate = strtod(text, &end);
    c_locale_leave(before);
    return end != text && !*end && *rate >= 0 && *rate <= 1 ? FATHOM_OK
                                                            : bad("missing_rate", text, "a share between 0 and 1");
}

static fathom_status check_seed(const char *text) {
    char *end;
    errno = 0;
    strtoull(text, &end, 10);
    return strchr(text, '-') || end == text || *end || errno ? bad("seed", text, "a whole number") : FATHOM_OK;
}

static void copy(char *to, size_t size, const char *from) {
    if (from && strlen(from) < size)
        snprintf(to, size, "%s", from);
}

fathom_status checkpoint_origin_read(checkpoint_origin *o, const st_file *file) {
    const char *binarised = st_meta(file, "binarised"), *seed = st_meta(file, "seed"),
               *features = st_meta(file, "features");
    *o = checkpoint_origin_unknown();
    TRY(read_norm(&o->feature_norm, st_meta(file, "feature_norm")));
    TRY(read_rate(&o->missing_rate, st_meta(file, "missing_rate")));
    if (binarised)
        o->binarised = strcmp(binarised, "true") == 0;
    if (seed)
        TRY(check_seed(seed));
    if (features && !data_made_features(features))
        return bad("features", features, "degree or identity");
    copy(o->features, sizeof o->features, features);
    copy(o->seed, sizeof o->seed, seed);
    copy(o->split, sizeof o->split, st_meta(file, "split"));
    copy(o->split_sha256, sizeof o->split_sha256, st_meta(file, "split_sha256"));
    copy(o->data_sha256, sizeof o->data_sha256, st_meta(file, "data_sha256"));
    return FATHOM_OK;
}
