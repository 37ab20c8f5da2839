/* synth.c - synthetic graphs for benchmarks and tests: a stochastic block model, and R-MAT graphs with hubs.
 *
 * The class of node v is v mod C, so an end point is moved into or out of a class by changing its remainder alone,
 * which keeps the degrees as drawn. Only integers and exact float steps: the same seed gives the same set on
 * every machine. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/forked.h"
#include "core/random.h"
#include "data/internal.h"

enum { DRAW_EDGES, DRAW_WORDS, DRAW_MEANS, DRAW_NOISE }; /* layers of the stream */

data_make_options data_make_defaults(void) {
    data_make_options options = {.kind = "sbm",
                                 .nodes = 10000,
                                 .edges = 50000,
                                 .classes = 7,
                                 .features = 128,
                                 .homophily = 0.8,
                                 .density = 0.05,
                                 .signal = 0.3,
                                 .seed = 100};
    return options;
}

/* Edges already drawn, as a set of keys; open addressing, at most half full. */
typedef struct edge_set {
    uint64_t *slots; /* key + 1, 0 = free */
    uint64_t mask;
} edge_set;

static bool add_key(edge_set *set, uint64_t key) {
    uint64_t at = key * UINT64_C(0x9E3779B97F4A7C15);
    at ^= at >> 32;
    for (;; at++) {
        uint64_t *slot = &set->slots[at & set->mask];
        if (*slot == key + 1)
            return false;
        if (*slot == 0) {
            *slot = key + 1;
            return true;
        }
    }
}

/* One edge of R-MAT: at each bit one of four quadrants, .57, .19, .19, .05 (Chakrabarti 2004),
 * from 16 bits: .57 is 37356, .76 is 49807, .95 is 62259. */
static void draw_rmat(random_source *source, int bits, uint32_t *u, uint32_t *v) {
    uint32_t word = 0;
    *u = *v = 0;
    for (int b = 0; b < bits; b++) {
        word = b % 2 == 0 ? random_next(source) : word >> 16;
        uint32_t r = word & 0xffff;
        *u = *u << 1 | (r >= 49807u);
        *v = *v << 1 | ((r >= 37356u) & (r < 49807u)) | (r >= 62259u);
    }
}

/* v with the remainder of u (inside the class), or with another one. */
static uint32_t into_class(random_source *source, uint32_t u, uint32_t v, uint32_t classes, bool inside) {
    uint32_t base = v - v % classes, wanted = u % classes;
    if (!inside && v % classes != wanted)
        return v;
    if (!inside)
        wanted = (wanted + 1 + random_below(source, classes - 1)) % classes;
    return base + wanted;
}

static fathom_status draw_edges(data_edges *edges, const data_make_options *o) {
    const bool rmat = strcmp(o->kind, "rmat") == 0;
    const uint32_t n = (uint32_t)o->nodes, classes = (uint32_t)o->classes,
                   inside_below = random_threshold(o->homophily);
    int bits = 0;
    edge_set set = {NULL, 1};
    while (bits < 31 && (UINT32_C(1) << bits) < n)
        bits++;
    while (set.mask < (uint64_t)o->edges * 2)
        set.mask = set.mask << 1 | 1;
    TRY(mem_new(&set.slots, set.mask + 1, 1, sizeof *set.slots, "edges drawn"));
    fathom_status status = mem_new(&edges->from, o->edges, 1, sizeof *edges->from, "edges");
    if (status == FATHOM_OK)
        status = mem_new(&edges->to, o->edges, 1, sizeof *edges->to, "edges");
    random_source source = random_from(o->seed, RANDOM_SYNTHETIC, 0, DRAW_EDGES);
    const int64_t most = 50 * o->edges + 1000;
    for (int64_t tries = 0; status == FATHOM_OK && edges->count < o->edges; tries++) {
        uint32_t u, v;
        if (tries == most) {
            status = fail(FATHOM_DATA,
                          "only %" PRId64 " of %" PRId64 " edges fit into %" PRId32
                          " nodes at this homophily; choose fewer edges or more nodes",
                          edges->count, o->edges, o->nodes);
            break;
        }
        if (rmat) {
            draw_rmat(&source, bits, &u, &v);
        } else {
            u = random_below(&source, n);
            v = random_below(&source, n);
        }
        bool inside = random_next(&source) < inside_below || classes == 1;
        v = into_class(&source, u, v, classes, inside);
        if (u >= n || v >= n || u == v)
            continue;
        if (!add_key(&set, u < v ? (uint64_t)u << 32 | v : (uint64_t)v << 32 | u))
            continue;
        edges->from[edges->count] = (int32_t)u;
        edges->to[edges->count++] = (int32_t)v;
    }
    mem_free(set.slots);
    edges->capacity = edges->count;
    return status;
}

/* Mean 0, variance 1, from four words: the sum of four uniform draws, whose variance is 4/12. */
static float nearly_normal(const philox_block *r) {
    float sum = random_unit(r->v[0]) + random_unit(r->v[1]) + random_unit(r->v[2]) + random_unit(r->v[3]);
    return (sum - 2.0f) * 1.7320508f;
}

static philox_block block_at(uint64_t seed, uint32_t layer, uint64_t number) {
    return philox4x32_10((uint32_t)number, layer, (uint32_t)(number >> 32), RANDOM_SYNTHETIC, (uint32_t)seed,
                         (uint32_t)(seed >> 32));
}

/* Dense features: a class mean of length about signal * sqrt(F), plus noise of variance 1. */
static fathom_status dense_features(data_features *f, const data_make_options *o) {
    float *means;
    const int32_t cols = o->features;
    TRY(mem_new(&means, o->classes, cols, sizeof *means, "class means"));
    fathom_status status = mem_new(&f->values, o->nodes, cols, sizeof *f->values, "features");
    if (status == FATHOM_OK) {
        f->dense = true;
        for (int64_t i = 0; i < (int64_t)o->classes * cols; i++) {
            philox_block r = block_at(o->seed, DRAW_MEANS, (uint64_t)i);
            means[i] = (float)o->signal * nearly_normal(&r);
        }
#pragma omp parallel for schedule(static) if (!forked_from_threads())
        for (int32_t v = 0; v < o->nodes; v++)
            for (int32_t c = 0; c < cols; c++) {
                int64_t i = (int64_t)v * cols + c;
                philox_block r = block_at(o->seed, DRAW_NOISE, (uint64_t)i);
                f->values[i] = means[v % o->classes * cols + c] + nearly_normal(&r);
            }
    }
    mem_free(means);
    return status;
}

/* Sparse features: round(density * F) words a node, a share `signal` of them out of the class's own words (those whose
 * number has the class as remainder). */
static fathom_status word_features(data_features *f, const data_make_options *o) {
    const int64_t words = (int64_t)(o->density * o->features + 0.5), per_node = words > 0 ? words : 1;
    const uint32_t own_below = random_threshold(o->signal), cols = (uint32_t)o->features,
                   classes = (uint32_t)o->classes;
    TRY(mem_new(&f->indptr, (size_t)o->nodes + 1, 1, sizeof *f->indptr, "features"));
    TRY(mem_new(&f->indices, o->nodes, per_node, sizeof *f->indices, "features"));
    TRY(mem_new(&f->values, o->nodes, per_node, sizeof *f->values, "features"));
    f->nonzeros = o->nodes * per_node;
#pragma omp parallel for schedule(static) if (!forked_from_threads())
    for (int32_t v = 0; v < o->nodes; v++) {
        random_source source = random_from(o->seed, RANDOM_SYNTHETIC, (uint32_t)v, DRAW_WORDS);
        f->indptr[v + 1] = (v + 1) * per_node;
        for (int64_t i = v * per_node; i < (v + 1) * per_node; i++) {
            bool own = random_next(&source) < own_below;
            uint32_t word = random_below(&source, cols), home = word - word % classes + (uint32_t)v % classes;
            f->indices[i] = (int32_t)(own && home < cols ? home : word);
            f->values[i] = 1;
        }
    }
    return FATHOM_OK;
}

static fathom_status check(const data_make_options *o) {
    if (strcmp(o->kind, "sbm") != 0 && strcmp(o->kind, "rmat") != 0)
        return fail(FATHOM_USAGE, "data make %s: the kinds are sbm and rmat", o->kind);
    if (o->nodes < 2 || o->nodes > DATA_NODES_MAX || o->edges < 0 || o->edges > INT64_MAX / 64 || o->features < 0 ||
        o->classes < 1 || o->classes > DATA_CLASSES_MAX || o->classes > o->nodes)
        return fail(FATHOM_USAGE, "data make: nodes from 2, classes from 1 to the number of nodes, edges and features "
                                  "from 0");
    if (!(o->homophily >= 0 && o->homophily <= 1) || !(o->density >= 0 && o->density <= 1) ||
        !(o->signal >= 0 && o->signal <= 1))
        return fail(FATHOM_USAGE, "data make: homophily, density and signal must be from 0 to 1");
    return FATHOM_OK;
}

static fathom_status fill(data_builder *builder, const data_make_options *o) {
    data_set *set = builder->set;
    TRY(data_text(&set->name, "%s-%" PRId32, o->kind, o->nodes));
    TRY(data_text(&set->about,
                  "{\"name\": \"%s\", \"made\": \"%s nodes=%" PRId32 " edges=%" PRId64 " classes=%" PRId32
                  " features=%" PRId32 " homophily=%g density=%g signal=%g seed=%" PRIu64 "\"}",
                  set->name, o->kind, o->nodes, o->edges, o->classes, o->features, o->homophily, o->density, o->signal,
                  o->seed));
    TRY(mem_strdup(&set->origin, "made"));
    TRY(mem_strdup(&set->layout, "made"));
    set->graph.nodes = o->nodes;
    set->classes = o->classes;
    TRY(mem_new(&set->labels, o->nodes, 1, sizeof *set->labels, "labels"));
    for (int32_t v = 0; v < o->nodes; v++)
        set->labels[v] = v % o->classes;
    TRY(draw_edges(&builder->edges, o));
    set->features.rows = o->nodes;
    set->features.cols = o->features;
    if (o->features == 0)
        TRY(data_features_empty(&set->features, o->nodes));
    else
        TRY(o->density >= 1 ? dense_features(&set->features, o) : word_features(&set->features, o));
    set->binarised = o->density < 1; /* a word drawn twice counts once */
    return data_finalize(builder);
}

fathom_status data_make(data_set **set, const data_make_options *options) {
    data_builder builder = {0};
    *set = NULL;
    TRY(check(options));
    TRY(mem_new(&builder.set, 1, 1, sizeof *builder.set, "data set"));
    fathom_status status = fill(&builder, options);
    data_edges_free(&builder.edges);
    if (status != FATHOM_OK)
        data_free(builder.set);
    else
        *set = builder.set;
    return status;
}
