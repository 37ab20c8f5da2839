/* cmd_data_make.c - `fathom data convert` and `fathom data make`: sets written as files. */
#include <string.h>

#include "cli/dataset.h"
#include "core/plural.h"

#define LAYOUTS "npz|ogb"

struct convert_options {
    struct common_options common;
    const char *data, *out;
    struct data_choice choice;
    int layout;
};

static const struct opt_row convert_rows[] = {
    OPT_OPERAND(struct convert_options, data, "DATA", OPT_REQUIRED, "a name (fathom data list) or a path"),
    OPT_PATH(struct convert_options, out, "output", 'o', "FILE", OPT_REQUIRED,
             "the file (or folder, for ogb) to write"),
    OPT_CHOICE(struct convert_options, layout, "layout", 0, LAYOUTS, "npz",
               "fathom's .npz, or a folder of OGB csv tables"),
    DATA_SOURCE_ROWS(struct convert_options, choice),
};

struct make_options {
    struct common_options common;
    int kind;
    const char *out;
    int64_t nodes, edges, classes, features, seed;
    double homophily, density, signal;
    int layout;
};

static const struct opt_row make_rows[] = {
    OPT_OPERAND_CHOICE(struct make_options, kind, "KIND", "sbm|rmat", OPT_REQUIRED,
                       "sbm: classes alone shape the graph; rmat: hubs as in real networks"),
    OPT_PATH(struct make_options, out, "output", 'o', "FILE", OPT_REQUIRED, "the file (or folder, for ogb) to write"),
    OPT_INT(struct make_options, nodes, "nodes", 0, "N", "10000", 2, 2147483646, "how many nodes"),
    OPT_INT(struct make_options, edges, "edges", 0, "M", "50000", 0, 1e12, "how many undirected edges"),
    OPT_INT(struct make_options, classes, "classes", 0, "C", "7", 1, 65536, "how many classes"),
    OPT_INT(struct make_options, features, "features", 0, "F", "128", 0, 2147483646, "how many features"),
    OPT_REAL(struct make_options, homophily, "homophily", 0, "H", "0.8", 0, 1, NULL, "share of edges inside a class"),
    OPT_REAL(struct make_options, density, "density", 0, "P", "0.05", 0, 1, NULL,
             "share of the features that are not zero (0/1 words); 1: dense numbers"),
    OPT_REAL(struct make_options, signal, "signal", 0, "S", "0.3", 0, 1, NULL,
             "how much the features depend on the class"),
    OPT_INT(struct make_options, seed, "seed", 0, "N", "100", 0, 9007199254740992.0, "seed of every random draw"),
    OPT_CHOICE(struct make_options, layout, "layout", 0, LAYOUTS, "npz",
               "fathom's .npz, or a folder of OGB csv tables"),
};

/* Writes the set and prints its sizes. */
static fathom_status write_set(const data_set *set, const char *out, int layout, bool as_json) {
    struct json *doc = NULL;
    TRY(layout == 1 ? data_save_ogb(set, out) : data_save(set, out));
    if (!as_json) {
        printf("%s: %d node%s, %lld edge%s, %d feature%s, %d class%s\n", printable(out), (int)set->graph.nodes,
               plural(set->graph.nodes), (long long)set->graph.edges, plural(set->graph.edges), (int)set->features.cols,
               plural(set->features.cols), (int)set->classes, plural_es(set->classes));
        return FATHOM_OK;
    }
    TRY(json_new_document(&doc));
    json_text(doc, "output", out);
    json_open(doc, "data");
    data_to_json(doc, set);
    json_close(doc);
    return print_json(&doc, FATHOM_OK);
}

static fathom_status cmd_data_convert(const void *given) {
    const struct convert_options *o = given;
    data_set *set = NULL;
    TRY(load_set(&set, o->data, &o->choice, o->choice.split == NULL));
    log_data_notes(set);
    fathom_status status = write_set(set, o->out, o->layout, o->common.json);
    if (status == FATHOM_OK)
        status = data_save_names_beside(set, o->out); /* files hold numbers */
    data_free(set);
    return status;
}

static fathom_status cmd_data_make(const void *given) {
    const struct make_options *o = given;
    data_set *set = NULL;
    data_make_options options = {.kind = o->kind == 1 ? "rmat" : "sbm",
                                 .nodes = (int32_t)o->nodes,
                                 .edges = o->edges,
                                 .classes = (int32_t)o->classes,
                                 .features = (int32_t)o->features,
                                 .homophily = o->homophily,
                                 .density = o->density,
                                 .signal = o->signal,
                                 .seed = (uint64_t)o->seed};
    TRY(data_make(&set, &options));
    fathom_status status = write_set(set, o->out, o->layout, o->common.json);
    data_free(set);
    return status;
}

const struct command command_data_convert = {
    "data convert",
    "write a data set of any layout as one .npz",
    "The .npz loads in numpy without pickles. It contains the split of the files, or\n"
    "the one of --split. Names of nodes and classes are written beside\n"
    "it: FILE.nodes.csv, FILE.classes.csv.\n",
    "fathom data convert cora.content -o cora.npz\n",
    OPT_ROWS(convert_rows),
    sizeof(struct convert_options),
    cmd_data_convert,
};

const struct command command_data_make = {
    "data make",
    "make a synthetic graph of a given size",
    NULL,
    "fathom data make sbm -o small.npz\n"
    "fathom data make rmat --nodes 169343 --edges 1166243 --density 1 -o big.npz\n",
    OPT_ROWS(make_rows),
    sizeof(struct make_options),
    cmd_data_make,
};
