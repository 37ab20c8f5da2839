/* save_names.c - the names of nodes and classes as csv files next to an output. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/file.h"
#include "data/internal.h"

#define LINE_REST 16 /* bytes for number, comma, quotes, end of line */

void data_name_list_free(data_name_list *list) {
    mem_free(list->starts);
    mem_free(list->text);
    *list = (data_name_list){0};
}

/* In quotes where csv needs them, quotes inside doubled. Returns the end. */
static char *put_name(char *to, const char *name) {
    size_t length = strlen(name);
    if (length > 0 && strcspn(name, ",;\"\t\r ") == length) {
        memcpy(to, name, length);
        return to + length;
    }
    *to++ = '"';
    for (; *name; *to++ = *name++)
        if (*name == '"')
            *to++ = '"';
    *to++ = '"';
    return to;
}

static fathom_status save(const data_name_list *list, const char *prefix, const char *name, const char *head) {
    fathom_status status;
    char *path = NULL, *text = NULL;
    size_t most = strlen(head) + 1;
    if (list->count == 0)
        return FATHOM_OK;
    for (int32_t i = 0; i < list->count; i++)
        most += 2 * strlen(list->text + list->starts[i]) + LINE_REST;
    TRY_OUT(data_text(&path, "%s%s.csv", prefix, name));
    TRY_OUT(mem_new(&text, most, 1, 1, "names"));
    strcpy(text, head);
    char *to = text + strlen(head);
    for (int32_t i = 0; i < list->count; i++) {
        to += snprintf(to, LINE_REST, "%" PRId32 ",", i);
        to = put_name(to, list->text + list->starts[i]);
        *to++ = '\n';
    }
    TRY_OUT(file_replace(path, &(file_piece){text, (size_t)(to - text)}, 1));
out:
    mem_free(path);
    mem_free(text);
    return status;
}

fathom_status data_save_names(const data_set *set, const char *prefix) {
    TRY(save(&set->node_names, prefix, "nodes", "node,name\n"));
    return save(&set->class_names, prefix, "classes", "class,name\n");
}

fathom_status data_save_names_beside(const data_set *set, const char *path) {
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    struct stat about;
    char *prefix;
    if (stat(path, &about) != 0 || !(S_ISREG(about.st_mode) || S_ISDIR(about.st_mode)))
        return FATHOM_OK;
    TRY(S_ISDIR(about.st_mode) ? data_text(&prefix, "%s/", path)
                               : data_text(&prefix, "%.*s.", (int)(dot ? dot - path : (ptrdiff_t)strlen(path)), path));
    fathom_status status = data_save_names(set, prefix);
    mem_free(prefix);
    return status;
}
