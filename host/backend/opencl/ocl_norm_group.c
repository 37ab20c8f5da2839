/* ocl_norm_group.c - differentiable group normalisation: launches of cl/norm_group.cl and
 * cl/norm_group_backward.cl. */
#include "backend/opencl/ocl.h"

/* Floats of a row of d columns padded to whole vectors. */
static int64_t padded(const ocl_device *dev, int64_t d) { return (d + dev->columns - 1) / dev->columns * dev->columns; }

/* A work-group per block. */
static int64_t items_of(const ocl_device *dev, ocl_kernel kernel, ocl_blocks blocks) {
    return blocks.count * (int64_t)dev->group[kernel];
}

fathom_status ocl_group_assign(ocl_device *dev, const be_group_assign_args *a) {
    int64_t n = a->h.rows, d = a->h.cols, room = (d + 1) * dev->columns;
    ocl_blocks blocks = ocl_cut_rows(dev, n, room);
    TRY(ocl_need(dev, K_group_assign));
    TRY(ocl_scratch(dev, be_floats(blocks.count * room)));
    return OCL_RUN(dev, K_group_assign, items_of(dev, K_group_assign, blocks), MAT(a->s), MAT(a->h), VEC(a->u),
                   VEC(a->c), U32(a->c.buf != NULL), SCRATCH(dev, 0), U32(n), U32(d), U32(a->s.cols), U32(blocks.rows));
}

/* Sums over so few rows that an item has at most FEW take one launch, a work-group each; more rows are cut into blocks
 * first, which also keeps the rounding of a mean that moves from run to run small. */
#define FEW 128
/* What one item of that launch takes; at most PARTS have rows, so that adding their sums up rounds little. */
#define PARTS 256
static int64_t rows_each(int64_t n, int64_t size) {
    int64_t parts = size < PARTS ? size : PARTS;
    return (n + parts - 1) / parts;
}
/* Items of a sum over rows: one per GROUPS_TOGETHER groups and vector of columns. */
static int64_t together(const ocl_device *dev) { return GROUPS_TOGETHER(dev->columns); }
static int64_t places_of(const ocl_device *dev, int64_t groups, int64_t d) {
    return (groups + together(dev) - 1) / together(dev) * ocl_across(dev, d);
}
/* Few rows, and a work-group for every unit of a CPU. */
static bool are_few(const ocl_device *dev, ocl_kernel kernel, int64_t n, int64_t places) {
    return rows_each(n, (int64_t)dev->group[kernel]) <= FEW && (together(dev) == 1 || places >= dev->units);
}

static fathom_status stats_once(ocl_device *dev, const be_group_stats_args *a) {
    int64_t n = a->h.rows, d = a->h.cols, groups = a->s.cols, places = places_of(dev, groups, d);
    int64_t size = (int64_t)dev->group[K_group_stats_once];
    TRY(ocl_scratch(dev, be_floats(places * size * 2 * together(dev) * dev->columns)));
    return OCL_RUN(dev, K_group_stats_once, places * size, VEC(a->mean), VEC(a->var), VEC(a->rmean), VEC(a->rvar),
                   U32(a->rmean.buf != NULL), MAT(a->s), MAT(a->h), SCRATCH(dev, 0), U32(n), U32(d), U32(groups),
                   U32(rows_each(n, size)), F32(a->momentum));
}

fathom_status ocl_group_stats(ocl_device *dev, const be_group_stats_args *a) {
    int64_t n = a->h.rows, d = a->h.cols, groups = a->s.cols, width = groups * d;
    TRY(ocl_need(dev, K_group_stats_once));
    int64_t places = places_of(dev, groups, d);
    if (are_few(dev, K_group_stats_once, n, places))
        return stats_once(dev, a);
    ocl_blocks blocks = ocl_cut(n, 2 * width);
    TRY(ocl_scratch(dev, be_floats(blocks.count * 2 * width)));
    TRY(OCL_RUN(dev, K_group_stats_blocks, blocks.count * places, SCRATCH(dev, 0), MAT(a->s), MAT(a->h), U32(n), U32(d),
                U32(groups), U32(blocks.count), U32(blocks.rows)));
    return OCL_RUN(dev, K_stats_combine, ocl_across(dev, width), VEC(a->mean), VEC(a->var), VEC(a->rmean), VEC(a->rvar),
                   U32(a->rmean.buf != NULL), SCRATCH(dev, 0), U32(width), U32(n), U32(blocks.count), U32(blocks.rows),
                   F32(a->momentum));
}

fathom_status ocl_group_apply(ocl_device *dev, const be_group_apply_args *a) {
    int64_t n = a->h.rows, d = a->h.cols, groups = a->s.cols, room = (groups + 1) * padded(dev, d);
    ocl_blocks blocks = ocl_cut_rows(dev, n, room);
    TRY(ocl_need(dev, K_group_apply));
    TRY(ocl_scratch(dev, be_floats(blocks.count * room)));
    return OCL_RUN(dev, K_group_apply, items_of(dev, K_group_apply, blocks), MAT(a->y), MAT(a->h), MAT(a->s),
                   VEC(a->mean), VEC(a->var), VEC(a->gamma), VEC(a->beta), SCRATCH(dev, 0), U32(n), U32(d), U32(groups),
                   U32(blocks.rows), F32(a->eps), F32(a->lambda), ACT(a->act));
}

/* The output of the activation behind the norm, whether there is one, and its scale; else a matrix of its shape. */
#define GATE(a) MAT((a)->y.buf ? (a)->y : (a)->go), U32((a)->y.buf != NULL), F32((a)->y.buf ? (a)->scale : 1.0f)

static fathom_status sums_once(ocl_device *dev, const be_group_backward_sums_args *a) {
    int64_t n = a->h.rows, d = a->h.cols, groups = a->s.cols, places = places_of(dev, groups, d);
    int64_t size = (int64_t)dev->group[K_group_sums_once];
    TRY(ocl_scratch(dev, be_floats(places * size * (together(dev) + 1) * dev->columns)));
    return OCL_RUN(dev, K_group_sums_once, places * size, VEC(a->db), VEC(a->q), VEC(a->ggamma), VEC(a->gbeta),
                   MAT(a->go), GATE(a), MAT(a->h), MAT(a->s), VEC(a->mean), VEC(a->var), SCRATCH(dev, 0), U32(n),
                   U32(d), U32(groups), U32(rows_each(n, size)), F32(a->eps), F32(a->lambda));
}

fathom_status ocl_group_backward_sums(ocl_device *dev, const be_group_backward_sums_args *a) {
    int64_t n = a->h.rows, d = a->h.cols, groups = a->s.cols, width = (groups + 1) * d;
    TRY(ocl_need(dev, K_group_sums_once));
    int64_t places = places_of(dev, groups, d);
    if (are_few(dev, K_group_sums_once, n, places))
        return sums_once(dev, a);
    ocl_blocks blocks = ocl_cut(n, width);
    TRY(ocl_scratch(dev, be_floats(blocks.count * width)));
    TRY(OCL_RUN(dev, K_group_sums_blocks, blocks.count * places, SCRATCH(dev, 0), MAT(a->go), GATE(a), MAT(a->h),
                MAT(a->s), VEC(a->mean), U32(n), U32(d), U32(groups), U32(blocks.count), U32(blocks.rows)));
    return OCL_RUN(dev, K_group_sums_combine, groups * ocl_across(dev, d), VEC(a->db), VEC(a->q), VEC(a->ggamma),
                   VEC(a->gbeta), VEC(a->var), SCRATCH(dev, 0), U32(d), U32(groups), U32(blocks.count), F32(a->eps),
                   F32(a->lambda));
}

/* Items that share a row: a power of two, at most the work-group. */
static int64_t team_of(const ocl_device *dev, int64_t d) {
    int64_t team = 1, most = (int64_t)dev->group[K_group_backward_rows];
    while (team < most && team < ocl_across(dev, d))
        team *= 2;
    return team;
}

/* Scratch: the rooms of the work-groups, then their sums of gz (G each). */
fathom_status ocl_group_backward_rows(ocl_device *dev, const be_group_backward_rows_args *a) {
    int64_t n = a->h.rows, d = a->h.cols, groups = a->s.cols;
    TRY(ocl_need(dev, K_group_backward_rows));
    int64_t size = (int64_t)dev->group[K_group_backward_rows];
    int64_t each = dev->columns == 16 ? 3 * d + size : 2 * size + 1;
    int64_t room = (4 * groups + 1) * padded(dev, d) + each * padded(dev, groups);
    ocl_blocks blocks = ocl_cut_rows(dev, n, room);
    int64_t sums = blocks.count * room;
    TRY(ocl_scratch(dev, be_floats(sums + blocks.count * groups)));
    TRY(OCL_RUN(dev, K_group_backward_rows, items_of(dev, K_group_backward_rows, blocks), MAT(a->gh), MAT(a->gz),
                SCRATCH(dev, sums), MAT(a->go), GATE(a), MAT(a->h), MAT(a->s), VEC(a->mean), VEC(a->var), VEC(a->gamma),
                VEC(a->u), VEC(a->db), VEC(a->q), SCRATCH(dev, 0), U32(n), U32(d), U32(groups), U32(blocks.rows),
                U32(team_of(dev, d)), F32(a->eps), F32(a->lambda)));
    return a->gc.buf ? ocl_combine(dev, a->gc, (be_mat){0}, sums, groups, blocks, true) : FATHOM_OK;
}
