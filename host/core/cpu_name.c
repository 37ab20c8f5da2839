/* cpu_name.c - see cpu_name.h. x86 has "model name" in /proc/cpuinfo. arm64 has numbers of the implementer and of its
 * part (MIDR_EL1), or under some hypervisors neither; boards have a device tree, which names them. */
#include "core/cpu_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct part {
    long implementer, part;
    const char *name;
} part;

static const part parts[] = {
    {0x41, 0xd03, "Arm Cortex-A53"},   {0x41, 0xd04, "Arm Cortex-A35"},   {0x41, 0xd05, "Arm Cortex-A55"},
    {0x41, 0xd07, "Arm Cortex-A57"},   {0x41, 0xd08, "Arm Cortex-A72"},   {0x41, 0xd09, "Arm Cortex-A73"},
    {0x41, 0xd0a, "Arm Cortex-A75"},   {0x41, 0xd0b, "Arm Cortex-A76"},   {0x41, 0xd0c, "Arm Neoverse-N1"},
    {0x41, 0xd40, "Arm Neoverse-V1"},  {0x41, 0xd41, "Arm Cortex-A78"},   {0x41, 0xd44, "Arm Cortex-X1"},
    {0x41, 0xd49, "Arm Neoverse-N2"},  {0x41, 0xd4f, "Arm Neoverse-V2"},  {0x46, 0x001, "Fujitsu A64FX"},
    {0x48, 0xd01, "HiSilicon TSV110"}, {0x43, 0x0af, "Cavium ThunderX2"}, {0xc0, 0xac3, "Ampere-1"},
};

/* Implementers, for parts that the table above does not list. */
static const part makers[] = {{0x41, 0, "Arm"},       {0x42, 0, "Broadcom"},  {0x43, 0, "Cavium"},
                              {0x46, 0, "Fujitsu"},   {0x48, 0, "HiSilicon"}, {0x4e, 0, "NVIDIA"},
                              {0x51, 0, "Qualcomm"},  {0x53, 0, "Samsung"},   {0x61, 0, "Apple"},
                              {0x6d, 0, "Microsoft"}, {0xc0, 0, "Ampere"}};

/* Copies the text up to the end of its line. */
static void copy_line(char *to, size_t size, const char *text) {
    snprintf(to, size, "%.*s", (int)strcspn(text, "\n"), text);
}

/* The text after the colon when the line's key is this one, else NULL. */
static const char *value_of(const char *line, const char *key) {
    const char *colon = strchr(line, ':');
    if (!colon || strncmp(line, key, strlen(key)) != 0)
        return NULL;
    return colon + 1 + strspn(colon + 1, " \t");
}

static void name_part(char *name, size_t size, long implementer, long number) {
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].implementer == implementer && parts[i].part == number) {
            snprintf(name, size, "%s", parts[i].name);
            return;
        }
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
        if (makers[i].implementer == implementer) {
            snprintf(name, size, "%s part 0x%lx", makers[i].name, (unsigned long)number);
            return;
        }
    snprintf(name, size, "arm64 implementer 0x%lx part 0x%lx", (unsigned long)implementer, (unsigned long)number);
}

/* The first processor listed; leaves `name` empty when the file has none. */
static void read_cpuinfo(char *name, size_t size, const char *path) {
    FILE *file = fopen(path, "r");
    char line[512];
    long implementer = -1, number = -1;
    while (file && !name[0] && number < 0 && fgets(line, sizeof line, file)) {
        const char *value;
        if ((value = value_of(line, "model name")))
            copy_line(name, size, value);
        else if ((value = value_of(line, "CPU implementer")))
            implementer = strtol(value, NULL, 0);
        else if ((value = value_of(line, "CPU part")))
            number = strtol(value, NULL, 0);
    }
    if (!name[0] && implementer >= 0 && number >= 0)
        name_part(name, size, implementer, number);
    if (file)
        fclose(file);
}

static void read_model(char *name, size_t size, const char *path) {
    FILE *file = fopen(path, "r");
    char text[256];
    size_t count = file ? fread(text, 1, sizeof text - 1, file) : 0; /* ends with NUL, not with a line */
    text[count] = '\0';
    copy_line(name, size, text);
    if (file)
        fclose(file);
}

void cpu_name_from(char *name, size_t size, const char *cpuinfo, const char *model) {
    name[0] = '\0';
    read_cpuinfo(name, size, cpuinfo);
    if (!name[0])
        read_model(name, size, model);
    if (!name[0])
#ifdef __aarch64__
        snprintf(name, size, "arm64 CPU");
#else
        snprintf(name, size, "CPU");
#endif
}

void cpu_name(char *name, size_t size) { cpu_name_from(name, size, "/proc/cpuinfo", "/proc/device-tree/model"); }
