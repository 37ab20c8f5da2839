/* cmd_devices.c - `fathom devices`: one flat list over both back ends, and which one is selected. */
#include <string.h>

#include "cli/cli.h"
#include "core/mem.h"

struct devices_options {
    struct common_options common;
};

enum column { ROW, SELECTOR, TYPE, UNITS, MEMORY, NAME, DRIVER, COLUMNS };

/* All rows of the list; `taken` is the row that --device selects, `chosen` the one that auto selects. */
struct device_table {
    fathom_device_list *list;
    fathom_device_info *info;
    int32_t count, taken, chosen;
};

/* The numbers of one device as text; the rest of its cells are texts of its info. */
struct numbers {
    char row[16], units[16], memory[32];
};

static void fill_row(const char **cells, struct numbers *numbers, const fathom_device_info *info, int row, bool taken) {
    snprintf(numbers->row, sizeof numbers->row, "%s%d", taken ? "*" : " ", row);
    snprintf(numbers->units, sizeof numbers->units, "%d", info->compute_units);
    snprintf(numbers->memory, sizeof numbers->memory, "%s", bytes_text((uint64_t)info->memory_bytes));
    cells[ROW] = numbers->row;
    cells[SELECTOR] = info->selector;
    cells[TYPE] = info->type;
    cells[UNITS] = numbers->units;
    cells[MEMORY] = numbers->memory;
    cells[NAME] = info->name;
    cells[DRIVER] = info->driver;
}

static fathom_status print_devices(const struct device_table *s) {
    static const char *const heads[COLUMNS] = {"  #", "selector", "type", "units", "memory", "name", "driver"};
    const char **cells = NULL;
    struct numbers *numbers = NULL;
    size_t count = (size_t)s->count;
    fathom_status status;
    TRY_OUT(mem_new(&cells, count + 1, COLUMNS, sizeof *cells, "device table"));
    TRY_OUT(mem_new(&numbers, count, 1, sizeof *numbers, "device table"));
    memcpy(cells, heads, sizeof heads);
    for (int i = 0; i < s->count; i++)
        fill_row(cells + (i + 1) * COLUMNS, &numbers[i], &s->info[i], i, i == s->taken);
    print_table(cells, count + 1, COLUMNS, NAME, 1u << ROW | 1u << UNITS | 1u << MEMORY);
    for (int i = 0; i < s->count; i++)
        if (s->info[i].alias[0])
            printf("%s is the same GPU as %s\n", s->info[i].selector, s->info[i].alias);
out:
    mem_free(cells);
    mem_free(numbers);
    return status;
}

static fathom_status print_devices_json(const struct device_table *s) {
    struct json *doc = NULL;
    const char *note;
    TRY(json_new_document(&doc));
    json_open_array(doc, "devices");
    for (int i = 0; i < s->count; i++) {
        const fathom_device_info *info = &s->info[i];
        json_open(doc, NULL);
        json_text(doc, "word", info->selector);
        json_text(doc, "name", info->name);
        json_text(doc, "backend", info->backend);
        json_text(doc, "type", info->type);
        json_text(doc, "platform", info->platform);
        json_text(doc, "driver", info->driver);
        json_int(doc, "memory_bytes", info->memory_bytes);
        json_int(doc, "compute_units", info->compute_units);
        json_bool(doc, "selected", i == s->taken);
        json_text(doc, "alias", info->alias[0] ? info->alias : NULL);
        json_close(doc);
    }
    json_close(doc);
    json_text(doc, "auto", s->info[s->chosen].selector);
    json_text(doc, "why", fathom_device_list_why(s->list));
    json_open_array(doc, "notes");
    for (int32_t i = 0; (note = fathom_device_list_note(s->list, i)); i++)
        json_text(doc, NULL, note);
    json_close(doc);
    return print_json(&doc, FATHOM_OK);
}

static fathom_status load_devices(struct device_table *s, const char *selector) {
    TRY(fathom_device_list_make(&s->list));
    s->count = fathom_device_list_count(s->list);
    TRY(mem_new(&s->info, s->count, 1, sizeof *s->info, "device table"));
    for (int32_t i = 0; i < s->count; i++) {
        s->info[i].size = sizeof s->info[i];
        TRY(fathom_device_list_get(s->list, i, &s->info[i]));
    }
    TRY(fathom_device_list_find(s->list, "auto", &s->chosen));
    return fathom_device_list_find(s->list, selector, &s->taken);
}

static fathom_status cmd_devices(const void *given) {
    const struct devices_options *options = given;
    struct device_table s = {0};
    const char *note;
    fathom_status status;
    TRY_OUT(load_devices(&s, options->common.device));
    if (options->common.json) {
        status = print_devices_json(&s);
        goto out;
    }
    TRY_OUT(print_devices(&s));
    if (strcmp(options->common.device, "auto") == 0)
        printf("\n* is what auto takes: %s\n", fathom_device_list_why(s.list));
    else
        printf("\n* is what '%s' means; auto takes %s: %s\n", options->common.device, s.info[s.chosen].selector,
               fathom_device_list_why(s.list));
    for (int32_t i = 0; (note = fathom_device_list_note(s.list, i)); i++)
        log_info("note: %s", note);
out:
    mem_free(s.info);
    fathom_device_list_free(s.list);
    return status;
}

const struct command command_devices = {
    "devices",
    "list the devices; which one is selected, and why",
    "The first columns, # and selector, are what --device takes.\n",
    "fathom devices\nfathom devices --device gpu --json\n",
    NULL,
    0,
    sizeof(struct devices_options),
    cmd_devices,
};
