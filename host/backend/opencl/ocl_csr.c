/* ocl_csr.c - the table of tiles and segments of a sparse matrix, made once at upload for cl/sparse.cl; args.h
 * describes it. The table is built twice: first only counted, without memory. */
#include "backend/opencl/ocl.h"

#define SMALL_ROWS (512 * TILE_SEGMENTS) /* fewer rows: half as long tiles, for enough work-groups */

typedef struct builder {
    u32 *words;                  /* NULL: counts only */
    u32 tile_at, segment_at;     /* next word */
    u32 max_segments;            /* of a tile */
    u32 tile[4], segments, rows; /* the open tile; entries in tile[2] */
    u32 length[TILE_SEGMENTS], begin[TILE_SEGMENTS], row_slot[TILE_SEGMENTS];
} builder;

/* Stores the words of the segments, longest first: a stable insertion sort. */
static void store_segments(const builder *b) {
    u32 *words = b->words + b->segment_at, order[TILE_SEGMENTS];
    for (u32 s = 0; s < b->segments; s++) {
        u32 at = s;
        for (; at > 0 && b->length[order[at - 1]] < b->length[s]; at--)
            order[at] = order[at - 1];
        order[at] = s;
    }
    for (u32 i = 0; i < b->segments; i++) {
        u32 s = order[i];
        words[i] =
            SEGMENT_WORD(b->length[s] ? b->begin[s] : 0, b->length[s], s) | ROW_SLOT(i < b->rows ? b->row_slot[i] : 0);
    }
}

static void close_tile(builder *b) {
    if (b->rows == 0)
        return;
    bool one = b->rows == 1;
    if (b->words) {
        u32 *tile = b->words + b->tile_at;
        tile[0] = b->tile[0];
        tile[1] = b->tile[1];
        tile[2] = one ? b->tile[2] : TILE_COUNTS(b->tile[2], b->segments, b->rows);
        tile[3] = one ? 0 : b->segment_at;
        if (!one)
            store_segments(b);
    }
    b->tile_at += 4;
    b->segment_at += one ? 0 : b->segments;
    b->rows = b->segments = 0;
}

/* Row `row` (with TILE_PARTS: of parts) has `count` entries from `entry`. */
static void add_row(builder *b, u32 row, int64_t entry, int64_t count) {
    u32 segments = count > SEGMENT ? (u32)CEIL_DIV(count, SEGMENT) : 1;
    if (b->rows > 0 && (((row ^ b->tile[0]) & TILE_PARTS) || b->segments + segments > b->max_segments ||
                        b->tile[2] + count > TILE_ENTRIES))
        close_tile(b);
    if (b->rows == 0) {
        b->tile[0] = row;
        b->tile[1] = (u32)entry;
        b->tile[2] = 0;
    }
    if (segments <= TILE_SEGMENTS) { /* else the tile has no other row */
        b->row_slot[b->rows] = b->segments;
        for (u32 s = 0, each = (u32)CEIL_DIV(count, segments); s < segments; s++) {
            u32 begin = s * each;
            b->begin[b->segments + s] = b->tile[2] + begin;
            b->length[b->segments + s] = (u32)count - begin < each ? (u32)count - begin : each;
        }
    }
    b->rows++;
    b->segments += segments;
    b->tile[2] += (u32)count;
}

static int64_t parts_of(int64_t count) { return count > LONG_ROW ? CEIL_DIV(count, TILE_ENTRIES) : 0; }

/* The parts of long rows, then all rows. */
static void add_all(builder *b, be_csr *csr, const int64_t *indptr) {
    u32 parts = 0;
    for (int64_t r = 0; r < csr->rows; r++)
        for (int64_t p = 0, count = indptr[r + 1] - indptr[r]; p < parts_of(count); p++) {
            int64_t rest = count - p * TILE_ENTRIES;
            add_row(b, parts++, indptr[r] + p * TILE_ENTRIES, rest < TILE_ENTRIES ? rest : TILE_ENTRIES);
        }
    close_tile(b);
    csr->plan_parts = parts;
    csr->plan_part_tiles = b->tile_at / 4;
    parts = 0;
    for (int64_t r = 0; r < csr->rows; r++) {
        int64_t count = indptr[r + 1] - indptr[r], of_row = parts_of(count);
        add_row(b, (u32)r | (of_row ? TILE_PARTS : 0), of_row ? parts : indptr[r], of_row ? of_row : count);
        parts += (u32)of_row;
    }
    close_tile(b);
    csr->plan_tiles = b->tile_at / 4 - csr->plan_part_tiles;
}

static void build(builder *b, be_csr *csr, const int64_t *indptr) {
    b->max_segments = csr->rows < SMALL_ROWS ? TILE_SEGMENTS / 2 : TILE_SEGMENTS;
    add_all(b, csr, indptr);
}

size_t ocl_csr_plan_bytes(be_csr *csr, const int64_t *indptr) {
    builder b = {0};
    build(&b, csr, indptr);
    return (size_t)(b.tile_at + b.segment_at) * sizeof(u32);
}

void ocl_csr_make_plan(void *memory, be_csr *csr, const int64_t *indptr, const be_csr *transpose) {
    builder b = {.words = memory, .segment_at = 4 * (csr->plan_part_tiles + csr->plan_tiles)};
    (void)transpose;
    build(&b, csr, indptr);
}
