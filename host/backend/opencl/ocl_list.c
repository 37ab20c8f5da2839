/* ocl_list.c - lists OpenCL devices without opening any: platforms in the order of
 * the loader, all devices of each, and a note for a platform without devices.
 * Answers of drivers are not trusted: sizes are bounded, text is truncated. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/opencl/ocl.h"

#define MAX_PLATFORMS 64
#define MAX_DEVICES 64

/* Vendor extensions by number: their headers may be absent. */
#define INFO_UUID 0x106A
#define INFO_PCI_KHR 0x410F
#define INFO_PCI_BUS_NV 0x4008
#define INFO_PCI_SLOT_NV 0x4009
#define INFO_PCI_DOMAIN_NV 0x400A
#define INFO_TOPOLOGY_AMD 0x4037

static void device_text(cl_device_id id, cl_device_info what, char *text, size_t size) {
    char all[4096] = "";
    size_t got = 0;
    if (clGetDeviceInfo(id, what, sizeof all - 1, all, &got) != CL_SUCCESS || got >= sizeof all)
        all[0] = '\0';
    snprintf(text, size, "%.*s", (int)size - 1, all + strspn(all, " "));
    for (size_t end = strlen(text); end > 0 && text[end - 1] == ' '; end--)
        text[end - 1] = '\0';
}

static int64_t device_number(cl_device_id id, cl_device_info what, size_t size) {
    cl_ulong value64 = 0;
    cl_uint value32 = 0;
    bool is_64 = size == sizeof value64;
    if (clGetDeviceInfo(id, what, size, is_64 ? (void *)&value64 : (void *)&value32, NULL) != CL_SUCCESS)
        return 0;
    cl_ulong value = is_64 ? value64 : value32;
    return value > (UINT64_C(1) << 50) ? 0 : (int64_t)value;
}

static bool has_extension(const char *list, const char *name) {
    const char *at = strstr(list, name);
    char end = at ? at[strlen(name)] : 'x';
    return at && (end == ' ' || end == '\0');
}

/* UUID and PCI address, by which the registry merges one GPU listed by two drivers. */
static void read_identity(cl_device_id id, be_info *info) {
    char *extensions = NULL;
    size_t size = 0;
    if (clGetDeviceInfo(id, CL_DEVICE_EXTENSIONS, 0, NULL, &size) != CL_SUCCESS || size == 0 || size > (1u << 20))
        return;
    if (ocl_host->alloc((void **)&extensions, size + 1, 1, 1, "extension list") != FATHOM_OK)
        return;
    if (clGetDeviceInfo(id, CL_DEVICE_EXTENSIONS, size, extensions, NULL) != CL_SUCCESS)
        extensions[0] = '\0';
    unsigned char uuid[16];
    if (has_extension(extensions, "cl_khr_device_uuid") &&
        clGetDeviceInfo(id, INFO_UUID, sizeof uuid, uuid, NULL) == CL_SUCCESS)
        for (int i = 0; i < 16; i++)
            snprintf(info->uuid + 2 * i, 3, "%02x", uuid[i]);
    cl_uint pci[4] = {0}, bus, slot, domain = 0;
    unsigned char amd[24] = {0};
    if (has_extension(extensions, "cl_khr_pci_bus_info") &&
        clGetDeviceInfo(id, INFO_PCI_KHR, sizeof pci, pci, NULL) == CL_SUCCESS)
        snprintf(info->pci, sizeof info->pci, "%04x:%02x:%02x.%x", pci[0] & 0xffff, pci[1] & 0xff, pci[2] & 0xff,
                 pci[3] & 0xf);
    else if (has_extension(extensions, "cl_nv_device_attribute_query") &&
             clGetDeviceInfo(id, INFO_PCI_BUS_NV, sizeof bus, &bus, NULL) == CL_SUCCESS &&
             clGetDeviceInfo(id, INFO_PCI_SLOT_NV, sizeof slot, &slot, NULL) == CL_SUCCESS) {
        if (clGetDeviceInfo(id, INFO_PCI_DOMAIN_NV, sizeof domain, &domain, NULL) != CL_SUCCESS)
            domain = 0;
        snprintf(info->pci, sizeof info->pci, "%04x:%02x:%02x.%x", domain & 0xffff, bus & 0xff, (slot >> 3) & 0x1f,
                 slot & 7);
    } else if (has_extension(extensions, "cl_amd_device_attribute_query") &&
               clGetDeviceInfo(id, INFO_TOPOLOGY_AMD, sizeof amd, amd, NULL) == CL_SUCCESS && amd[0] == 1)
        snprintf(info->pci, sizeof info->pci, "0000:%02x:%02x.%x", amd[21], amd[22] & 0x1f, amd[23] & 7);
    ocl_host->free(extensions);
}

/* `auto` takes no OpenCL on a CPU: the native back end is faster there. So a device that is a CPU among other things is
 * one (simulators), and an accelerator in the host's memory too (Intel's FPGA emulation). */
static be_kind kind_of(cl_device_id id) {
    cl_device_type type = 0;
    cl_bool unified = CL_FALSE;
    if (clGetDeviceInfo(id, CL_DEVICE_TYPE, sizeof type, &type, NULL) != CL_SUCCESS)
        return BE_ACCELERATOR;
    if (clGetDeviceInfo(id, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof unified, &unified, NULL) != CL_SUCCESS)
        unified = CL_FALSE;
    if (type & CL_DEVICE_TYPE_CPU)
        return BE_OPENCL_CPU;
    if (type & CL_DEVICE_TYPE_GPU)
        return unified ? BE_GPU_INTEGRATED : BE_GPU_DISCRETE;
    return unified ? BE_OPENCL_CPU : BE_ACCELERATOR;
}

static void read_device(cl_device_id id, const char *platform, int p, int d, be_info *info) {
    *info = (be_info){.platform_index = p, .device_index = d, .opencl_index = -1, .kind = kind_of(id)};
    snprintf(info->backend, sizeof info->backend, "opencl");
    snprintf(info->platform, sizeof info->platform, "%.*s", BE_TEXT - 1, platform);
    device_text(id, CL_DEVICE_NAME, info->name, sizeof info->name);
    device_text(id, CL_DRIVER_VERSION, info->driver, sizeof info->driver);
    info->memory_bytes = device_number(id, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(cl_ulong));
    info->max_alloc_bytes = device_number(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(cl_ulong));
    if (info->max_alloc_bytes > OCL_MAX_BUFFER_BYTES)
        info->max_alloc_bytes = OCL_MAX_BUFFER_BYTES;
    info->local_bytes = device_number(id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof(cl_ulong));
    info->compute_units = (int)(device_number(id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(cl_uint)) & 0xffffff);
    info->max_group_size = (int)(device_number(id, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(size_t)) & 0xffffff);
    read_identity(id, info);
}

/* The likely reason why a platform has no device, by its name. */
static void explain_no_device(char *note, size_t size, const char *platform, cl_int code) {
    const char *remedy =
        "if this machine has a GPU of that vendor, check that it is detected and that your user may open "
        "/dev/dri/renderD* (group render)";
    if (strstr(platform, "Portable Computing"))
        remedy = "PoCL has none when its kernel cache is not writable: make POCL_CACHE_DIR or ~/.cache writable";
    else if (strstr(platform, "rusticl"))
        remedy = "rusticl lists a driver only when RUSTICL_ENABLE names it, as in RUSTICL_ENABLE=llvmpipe";
    snprintf(note, size, "platform %.80s has no device (clGetDeviceIDs: %s); %s", platform, ocl_code_name(code),
             remedy);
}

static cl_int platforms(cl_platform_id *ids, cl_uint *count) {
    *count = 0;
    if (ocl_probe_failure()[0])
        return CL_DEVICE_NOT_AVAILABLE;
    cl_int code = clGetPlatformIDs(MAX_PLATFORMS, ids, count);
    if (code != CL_SUCCESS)
        *count = 0;
    if (*count > MAX_PLATFORMS)
        *count = MAX_PLATFORMS;
    return code;
}

static cl_int devices_of(cl_platform_id platform, cl_device_id *ids, cl_uint *count) {
    *count = 0;
    cl_int code = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, MAX_DEVICES, ids, count);
    if (code != CL_SUCCESS)
        *count = 0;
    if (*count > MAX_DEVICES)
        *count = MAX_DEVICES;
    return code;
}

static void platform_name(cl_platform_id platform, char *name, size_t size) {
    if (clGetPlatformInfo(platform, CL_PLATFORM_NAME, size - 1, name, NULL) != CL_SUCCESS)
        snprintf(name, size, "unnamed");
    name[size - 1] = '\0';
}

/* Mesa's software driver silently stops every loop after 65535 iterations. */
static void note_llvmpipe(be_found *found, const be_info *info, int capacity) {
    if (strncmp(info->name, "llvmpipe", 8) == 0 && found->notes < capacity)
        snprintf(
            found->note[found->notes++], sizeof *found->note,
            "%.80s is for tests on small graphs only: Mesa's software driver stops long loops early, and results are "
            "then wrong without an error",
            info->name);
}

/* Appends the devices of one platform to `found`, whose arrays have the given capacity; count_code is the code of the
 * call that counted its devices. */
static void read_platform(be_found *found, cl_platform_id platform, int p, int capacity, cl_int count_code) {
    cl_device_id ids[MAX_DEVICES];
    cl_uint count;
    char name[BE_TEXT] = "";
    platform_name(platform, name, sizeof name);
    cl_int code = devices_of(platform, ids, &count);
    if (count_code != CL_SUCCESS) {
        code = count_code;
        count = 0;
    }
    if (count == 0)
        explain_no_device(found->note[found->notes++], sizeof *found->note, name, code);
    for (int d = 0; d < (int)count && found->count < capacity; d++) {
        read_device(ids[d], name, p, d, &found->info[found->count]);
        note_llvmpipe(found, &found->info[found->count++], MAX_PLATFORMS + capacity);
    }
}

fathom_status ocl_list(be_found *found) {
    cl_platform_id ids[MAX_PLATFORMS];
    cl_uint count;
    cl_int code = platforms(ids, &count), count_code[MAX_PLATFORMS];
    int capacity = 0;
    *found = (be_found){0};
    for (cl_uint p = 0; p < count; p++) {
        cl_device_id devices[MAX_DEVICES];
        cl_uint device_count;
        count_code[p] = devices_of(ids[p], devices, &device_count);
        capacity += (int)device_count;
    }
    TRY(ocl_host->alloc((void **)&found->info, (size_t)capacity + 1, 1, sizeof *found->info, "OpenCL devices"));
    fathom_status status = ocl_host->alloc((void **)&found->note, (size_t)(MAX_PLATFORMS + capacity), 1,
                                           sizeof *found->note, "OpenCL platform notes");
    if (status != FATHOM_OK) {
        ocl_host->free(found->info);
        *found = (be_found){0};
        return status;
    }
    if (ocl_probe_failure()[0])
        snprintf(found->note[found->notes++], sizeof *found->note, "%s", ocl_probe_failure());
    else if (count == 0)
        snprintf(found->note[found->notes++], sizeof *found->note,
                 "no OpenCL driver is installed (clGetPlatformIDs: %s); install your GPU's, or pocl-opencl-icd to use "
                 "the CPU through OpenCL",
                 ocl_code_name(code));
    for (cl_uint p = 0; p < count; p++)
        read_platform(found, ids[p], (int)p, capacity, count_code[p]);
    return FATHOM_OK;
}

fathom_status ocl_find_device(cl_platform_id *platform, cl_device_id *id, const be_info *info) {
    cl_platform_id ids[MAX_PLATFORMS];
    cl_device_id devices[MAX_DEVICES];
    cl_uint count, device_count;
    cl_int code = platforms(ids, &count);
    if (code != CL_SUCCESS || info->platform_index < 0 || info->platform_index >= (int)count)
        return ocl_fail(NULL, "clGetPlatformIDs", info->platform, code ? code : CL_INVALID_PLATFORM);
    *platform = ids[info->platform_index];
    code = devices_of(*platform, devices, &device_count);
    if (code != CL_SUCCESS || info->device_index < 0 || info->device_index >= (int)device_count)
        return ocl_fail(NULL, "clGetDeviceIDs", info->platform, code ? code : CL_DEVICE_NOT_FOUND);
    *id = devices[info->device_index];
    return FATHOM_OK;
}

/* Asks no child process first (ocl_probe.c): the caller's program has loaded the drivers. */
fathom_status ocl_describe_device(cl_device_id id, be_info *info) {
    cl_platform_id platform = NULL, ids[MAX_PLATFORMS];
    cl_device_id devices[MAX_DEVICES];
    cl_uint count = 0, device_count;
    char name[BE_TEXT] = "";
    int row = 0;
    CL_TRY(NULL, "clGetDeviceInfo", "CL_DEVICE_PLATFORM",
           clGetDeviceInfo(id, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL));
    platform_name(platform, name, sizeof name);
    read_device(id, name, -1, -1, info);
    info->opencl_index = INT_MAX;
    snprintf(info->selector, sizeof info->selector, "opencl");
    if (clGetPlatformIDs(MAX_PLATFORMS, ids, &count) != CL_SUCCESS)
        count = 0;
    for (cl_uint p = 0; p < count && p < MAX_PLATFORMS; p++) {
        devices_of(ids[p], devices, &device_count);
        for (cl_uint d = 0; d < device_count; d++, row++)
            if (devices[d] == id) {
                info->platform_index = (int)p;
                info->device_index = (int)d;
                info->opencl_index = row;
                snprintf(info->selector, sizeof info->selector, "opencl:%d", row);
            }
    }
    return FATHOM_OK;
}

void ocl_describe(char *text, size_t size) {
    cl_platform_id ids[MAX_PLATFORMS];
    cl_uint count;
    platforms(ids, &count);
    const char *folder = getenv("FATHOM_CL_DIR");
    int used = snprintf(text, size, "OpenCL module with CLBlast; kernels %s%s; %u platforms",
                        folder && *folder ? "from " : "embedded", folder && *folder ? folder : "", count);
    if (ocl_probe_failure()[0] && used > 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, "; %s", ocl_probe_failure());
    for (cl_uint p = 0; p < count && used > 0 && (size_t)used < size; p++) {
        char name[BE_TEXT] = "", version[BE_TEXT] = "";
        platform_name(ids[p], name, sizeof name);
        if (clGetPlatformInfo(ids[p], CL_PLATFORM_VERSION, sizeof version - 1, version, NULL) != CL_SUCCESS)
            version[0] = '\0';
        used += snprintf(text + used, size - (size_t)used, "%s %s (%s)", p ? "," : ":", name, version);
    }
}
