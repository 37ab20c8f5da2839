/* read_ogb.c - OGB node-property folders: edge.csv, node-feat.csv, node-label.csv and split/, each perhaps gzipped. */
#include <dirent.h>
#include <inttypes.h>

#include "data/locate.h"
#include "data/row_builder.h"

static fathom_status need(char **found, const char *folder, const char *file) {
    static const char *const plain[] = {"", NULL};
    TRY(data_find_table(found, folder, file, plain));
    return *found ? FATHOM_OK : fail(FATHOM_DATA, "%s: %s or %s.gz is missing", folder, file, file);
}

/* The one folder below split/ ("time", "scaffold", ...); NULL when there is no split. OGB unpacks the tables to raw/
 * and the split beside that. */
static fathom_status find_split(char **found, const char *folder) {
    static const char *const places[] = {"split", "../split"};
    *found = NULL;
    for (size_t i = 0; i < 2 && !*found; i++) {
        char *split;
        TRY(data_text(&split, "%s/%s", folder, places[i]));
        DIR *dir = opendir(split);
        fathom_status status = FATHOM_OK;
        for (struct dirent *entry; dir && status == FATHOM_OK && !*found && (entry = readdir(dir));)
            if (entry->d_name[0] != '.')
                status = data_text(found, "%s/%s", split, entry->d_name);
        if (dir)
            closedir(dir);
        mem_free(split);
        TRY(status);
    }
    return FATHOM_OK;
}

/* A list of node numbers, one per line (not read as labels, whose range is smaller). */
static fathom_status read_nodes(int32_t **nodes, int32_t *count, const char *folder, const char *file, int32_t limit) {
    fathom_status status;
    char *path = NULL;
    line_reader *reader = NULL;
    data_line line;
    int64_t capacity = 0, node;
    TRY_OUT(need(&path, folder, file));
    TRY_OUT(line_reader_open(&reader, path));
    TRY_OUT(mem_new(nodes, 0, 1, sizeof **nodes, "split"));
    for (;;) {
        TRY_OUT(line_reader_next(&line, reader));
        if (!line.text)
            break;
        const char *at = line.text;
        if (!data_parse_int(&node, &at, line.end) || at != line.end || node < 0 || node >= limit || *count >= limit) {
            status = line_reader_fail(reader, "is not a node number in 0..%" PRId32, limit - 1);
            break;
        }
        TRY_OUT(mem_reserve(nodes, &capacity, *count + 1, sizeof **nodes, "split"));
        (*nodes)[(*count)++] = (int32_t)node;
    }
out:
    line_reader_close(reader);
    mem_free(path);
    return status;
}

static fathom_status read_ogb_split(data_set *set, const char *folder) {
    fathom_status status;
    char *split;
    data_split *own = &set->own_split;
    TRY(find_split(&split, folder));
    if (!split)
        return FATHOM_OK;
    TRY_OUT(read_nodes(&own->train, &own->train_count, split, "train.csv", set->graph.nodes));
    TRY_OUT(read_nodes(&own->val, &own->val_count, split, "valid.csv", set->graph.nodes));
    TRY_OUT(read_nodes(&own->test, &own->test_count, split, "test.csv", set->graph.nodes));
    TRY_OUT(mem_strdup(&own->name, "public"));
    data_split_drop_unlabelled(own, set->labels);
    TRY_OUT(data_split_check(own, split, set->graph.nodes, set->labels));
out:
    mem_free(split);
    return status;
}

fathom_status data_read_ogb(data_builder *builder, const data_source *source, const data_options *options) {
    (void)options;
    const char *folder = source->path;
    fathom_status status;
    static const char *const plain[] = {"", NULL};
    char *edges = NULL, *features = NULL, *labels = NULL;
    data_largest largest;
    data_naming naming = {0}; /* OGB has numbers only */
    int64_t label_count = 0;
    data_set *set = builder->set;
    TRY_OUT(data_copy_text(&set->layout, "ogb-csv"));
    TRY_OUT(need(&edges, folder, "edge.csv"));
    TRY_OUT(need(&labels, folder, "node-label.csv"));
    TRY_OUT(data_find_table(&features, folder, "node-feat.csv", plain));
    if (features)
        TRY_OUT(data_read_matrix(&set->features, features, false));
    TRY_OUT(data_read_labels(&set->labels, &label_count, &naming, labels, false));
    TRY_OUT(data_read_edge_file(builder, &largest, edges, false));
    TRY_OUT(data_check_nodes(builder, edges, largest, label_count));
    TRY_OUT(read_ogb_split(set, folder));
out:
    mem_free(edges);
    mem_free(features);
    mem_free(labels);
    return status;
}
