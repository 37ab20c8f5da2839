/* cmd_devices.c - `fathom devices`: one flat list over both back ends, and which one is taken. */
#include <string.h>

#include "cli/device.h"
#include "core/mem.h"

struct devices_options {
    struct common_options common;
};

enum column { ROW, WORD, TYPE, UNITS, MEMORY, NAME, DRIVER, COLUMNS };

/* The numbers of one device as text; the rest of its cells are texts of be_info. */
struct numbers {
    char row[16], units[16], memory[32];
};

static void fill_row(const char **cells, struct numbers *numbers, const be_info *info, int row, bool taken) {
    snprintf(numbers->row, sizeof numbers->row, "%s%d", taken ? "*" : " ", row);
    snprintf(numbers->units, sizeof numbers->units, "%d", info->compute_units);
    snprintf(numbers->memory, sizeof numbers->memory, "%s", bytes_text((uint64_t)info->memory_bytes));
    cells[ROW] = numbers->row;
    cells[WORD] = info->word;
    cells[TYPE] = be_kind_name(info->kind);
    cells[UNITS] = numbers->units;
    cells[MEMORY] = numbers->memory;
    cells[NAME] = info->name;
    cells[DRIVER] = info->driver;
}

static fathom_status print_devices(const be_list *list, int taken) {
    static const char *const heads[COLUMNS] = {"  #", "word", "type", "units", "memory", "name", "driver"};
    const char **cells = NULL;
    struct numbers *numbers = NULL;
    size_t count = (size_t)list->count;
    fathom_status status;
    TRY_OUT(mem_new(&cells, count + 1, COLUMNS, sizeof *cells, "device table"));
    TRY_OUT(mem_new(&numbers, count, 1, sizeof *numbers, "device table"));
    memcpy(cells, heads, sizeof heads);
    for (int i = 0; i < list->count; i++)
        fill_row(cells + (i + 1) * COLUMNS, &numbers[i], &list->info[i], i, i == taken);
    print_table(cells, count + 1, COLUMNS, NAME, 1u << ROW | 1u << UNITS | 1u << MEMORY);
    for (int i = 0; i < list->count; i++)
        if (list->info[i].alias[0])
            printf("%s is the same card as %s\n", list->info[i].word, list->info[i].alias);
out:
    mem_free(cells);
    mem_free(numbers);
    return status;
}

static fathom_status print_devices_json(const be_list *list, int taken) {
    struct json *doc = NULL;
    TRY(json_new(&doc));
    json_open_array(doc, "devices");
    for (int i = 0; i < list->count; i++) {
        const be_info *info = &list->info[i];
        json_open(doc, NULL);
        json_text(doc, "word", info->word);
        json_text(doc, "name", info->name);
        json_text(doc, "backend", info->backend);
        json_text(doc, "type", be_kind_name(info->kind));
        json_text(doc, "platform", info->platform);
        json_text(doc, "driver", info->driver);
        json_int(doc, "memory_bytes", info->memory_bytes);
        json_int(doc, "compute_units", info->compute_units);
        json_bool(doc, "selected", i == taken);
        json_text(doc, "alias", info->alias[0] ? info->alias : NULL);
        json_close(doc);
    }
    json_close(doc);
    json_text(doc, "auto", list->info[list->chosen].word);
    json_text(doc, "why", list->why);
    json_open_array(doc, "notes");
    for (int i = 0; i < list->notes; i++)
        json_text(doc, NULL, list->note[i]);
    json_close(doc);
    fathom_status status = print_json(doc);
    json_free(doc);
    return status;
}

static fathom_status run(const void *given) {
    const struct devices_options *options = given;
    be_list list;
    int taken;
    fathom_status status;
    TRY(be_list_devices(&list));
    TRY_OUT(be_find(&list, options->common.device, &taken));
    if (options->common.json) {
        status = print_devices_json(&list, taken);
        goto out;
    }
    TRY_OUT(print_devices(&list, taken));
    if (strcmp(options->common.device, "auto") == 0)
        printf("\n* is what auto takes: %s\n", list.why);
    else
        printf("\n* is what '%s' means; auto takes %s: %s\n", options->common.device, list.info[list.chosen].word,
               list.why);
    for (int i = 0; i < list.notes; i++)
        say("note: %s", list.note[i]);
out:
    be_list_free(&list);
    return status;
}

const struct verb verb_devices = {
    "devices",
    "list the devices, and say which one is taken and why",
    "The first columns, # and word, are what --device takes.\n",
    "fathom devices\nfathom devices --device gpu --json\n",
    NULL,
    0,
    sizeof(struct devices_options),
    run,
};
