/* slices.h - a graph divided among ranks: one order of the nodes for every number of ranks, contiguous slices of it,
 * and of each slice its rows and the rows of other ranks that they are adjacent to (its halo).
 *
 *     int32_t *order = NULL;                                           // order[i] is the node at position i
 *     int64_t *first = NULL;                                           // rank r has positions first[r] .. first[r+1]-1
 *     data_slice slice = {0};
 *     TRY(data_order_nodes(&order, &set->graph, DATA_ORDER_BISECTION));
 *     TRY(data_slices_cut(&first, &set->graph, order, ranks, row_weight));
 *     TRY(data_slice_make(&slice, set, order, first, ranks, rank));
 *     ...
 *     data_slice_free(&slice);
 *
 * The order depends on the graph alone, not on the number of ranks: so do dropout masks, which go by the position of a
 * row, and a run can continue on another number of ranks. */
#ifndef DATA_SLICES_H
#define DATA_SLICES_H

#include "data/data.h"

/* Orders. AUTO: OWN for one rank, METIS for more where its module is installed, else BISECTION.
 *   own        data_node_order, as on one device
 *   bisection  data_node_order of the graph, cut in two of equal weight, and so on to DATA_ORDER_PARTS parts
 *   metis      recursive bisection by METIS (fathom_metis.so) into DATA_ORDER_PARTS parts, data_node_order inside each
 */
#define DATA_ORDER_LIST(X) X(AUTO, auto) X(OWN, own) X(BISECTION, bisection) X(METIS, metis)
#define X(id, name) DATA_ORDER_##id,
typedef enum data_order { DATA_ORDER_LIST(X) DATA_ORDERS } data_order;
#undef X
#define DATA_ORDER_NAME(id, name) #name,
#define DATA_ORDER_CHOICE(id, name) "|" #name
#define DATA_ORDER_CHOICES (&(DATA_ORDER_LIST(DATA_ORDER_CHOICE))[1])
#define DATA_ORDER_PARTS 64

const char *data_order_name(data_order how);
data_order data_order_choose(data_order how, int ranks); /* resolves AUTO */
/* *order is NULL where the nodes are in that order already. METIS without its module: FATHOM_USAGE, which names the
 * package; a graph that it cannot hold (32-bit numbers): FATHOM_DATA. `how` is not AUTO. */
fathom_status data_order_nodes(int32_t **order, const data_graph *graph, data_order how);

/* Slices of about equal weight, each of at least one row: a row weighs row_weight + its entries (with the self-loop),
 * so row_weight is the dense work of a row relative to that of an entry. *first: ranks + 1 numbers (mem_free). `order`
 * NULL: as the nodes are. More ranks than nodes: FATHOM_USAGE. */
fathom_status data_slices_cut(int64_t **first, const data_graph *graph, const int32_t *order, int ranks,
                              double row_weight);

/* Rows are local: own ones first, 0 .. nodes - 1 in the order, then the halo, nodes .. nodes + halo - 1, in the order
 * as well and hence by owner. The neighbours in a row ascend by position, not by local number: a row's sum has the same
 * order, and so the same bits, for every number of ranks. Both directions of an edge are stored, so what rank p needs
 * of this one follows without a message. */
typedef struct data_slice {
    int rank, ranks;
    int32_t all_nodes; /* of the graph */
    int32_t first_row; /* position of row 0 */
    int32_t nodes, halo;
    int64_t first_entry;   /* entries of the rows before row 0, with a self-loop each */
    int64_t first_feature; /* stored values of sparse features before those of row 0; 0 for dense ones */
    int64_t features;      /* stored values of own rows; 0 for dense ones */
    int64_t *indptr;       /* [nodes + 1]: neighbours of own rows, without self-loops */
    int32_t *indices;      /* local numbers */
    int32_t *positions;    /* [halo]: of the halo's rows in the order, ascending */
    int32_t *degrees;      /* [nodes + halo]: neighbours in the whole graph */
    int64_t *halo_first;   /* [ranks + 1]: rows nodes + halo_first[p] .. nodes + halo_first[p + 1] - 1 are of rank p */
    int64_t *pick_first;   /* [ranks + 1]: pick[pick_first[p]] .. pick[pick_first[p + 1] - 1] are the rows */
    int32_t *pick;         /* that rank p needs, ascending */
} data_slice;

/* Slice `rank` of set->graph and set->input. */
fathom_status data_slice_make(data_slice *slice, const data_set *set, const int32_t *order, const int64_t *first,
                              int ranks, int rank);
void data_slice_free(data_slice *slice);

/* out = rows first .. first + count - 1 of x in that order (NULL: as they are). */
fathom_status data_features_rows(data_features *out, const data_features *x, const int32_t *order, int64_t first,
                                 int64_t count);

#endif
