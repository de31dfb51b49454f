/*
 * hip_stand_in.c - a libamdhip64.so that simulates GPUs, for machines without one, and for failures that no GPU
 * produces on demand.
 *
 * It loads what the real hipRTC made, by the rules of the real driver: code objects for its own architecture, alone or
 * in a fat binary, and nothing else. It finds kernels in the code, but does not launch them. There are three GPUs, two
 * identical ones and a different one. The environment variable HIP_STAND_IN_ARCHITECTURE replaces the identical ones
 * with other GPUs. Every call to the function that the environment variable HIP_STAND_IN_FAIL names fails.
 */
#include "support/hip_stand_in.h"

#include <elf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GPU_COUNT = 3, OUT_OF_MEMORY = 2, INVALID_DEVICE = 101, INVALID_IMAGE = 200, NO_BINARY = 209, NOT_FOUND = 500 };
enum { NAME_OFFSET = 320 }; /* of gcnArchName: any place after the first 256 bytes */

struct ihipModule_t {
    int device;
    size_t name_count;
    char **names;
};

static _Thread_local int current;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects the variables below */
static char failing_call[64];
static int failing_result;
static int failing_times;
static int live_modules;

/* ---- what tests set and read ---- */

void hip_stand_in_fail(const char *call, int result, int times)
{
    pthread_mutex_lock(&lock);
    (void)snprintf(failing_call, sizeof(failing_call), "%s", call);
    failing_result = result;
    failing_times = times;
    pthread_mutex_unlock(&lock);
}

static int count_modules(int change)
{
    pthread_mutex_lock(&lock);
    live_modules += change;
    const int count = live_modules;
    pthread_mutex_unlock(&lock);
    return count;
}

int hip_stand_in_live_modules(void)
{
    return count_modules(0);
}

static int outcome(const char *call)
{
    const char *failing = getenv("HIP_STAND_IN_FAIL");
    int result = failing != NULL && strcmp(call, failing) == 0 ? OUT_OF_MEMORY : 0;
    pthread_mutex_lock(&lock);
    if (failing_times > 0 && strcmp(call, failing_call) == 0) {
        --failing_times;
        result = failing_result;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

/* ---- devices ---- */

static const char *architecture_of(int device)
{
    const char *text = getenv("HIP_STAND_IN_ARCHITECTURE");
    return device == 2 ? "gfx1030" : text != NULL ? text : "gfx90a:sramecc+:xnack-";
}

const char *hipGetErrorName(int error)
{
    return error == OUT_OF_MEMORY ? "hipErrorOutOfMemory" : "hipErrorOfStandIn";
}

int hipInit(unsigned flags)
{
    (void)flags;
    return outcome("hipInit");
}

int hipGetDeviceCount(int *count)
{
    *count = GPU_COUNT;
    return outcome("hipGetDeviceCount");
}

int hipGetDevice(int *device)
{
    *device = current;
    return outcome("hipGetDevice");
}

int hipSetDevice(int device)
{
    const int result = outcome("hipSetDevice");
    if (result != 0 || device < 0 || device >= GPU_COUNT)
        return result != 0 ? result : INVALID_DEVICE;
    current = device;
    return 0;
}

int hipGetDeviceProperties(char *properties, int device)
{
    if (device < 0 || device >= GPU_COUNT)
        return INVALID_DEVICE;
    strcpy(properties, "AMD gfx device of the stand-in");
    strcpy(properties + NAME_OFFSET, architecture_of(device));
    return outcome("hipGetDeviceProperties");
}

/* ---- modules ---- */

/* The number in the ELF flags of an architecture, as far as tests use it. */
static unsigned number_of(const char *architecture)
{
    static const struct {
        const char *name;
        unsigned number;
    } known[] = {{"gfx906", 0x2f}, {"gfx908", 0x30}, {"gfx90a", 0x3f}, {"gfx1030", 0x36}};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); ++i) {
        const size_t length = strlen(known[i].name);
        if (strncmp(architecture, known[i].name, length) == 0 && strchr(":", architecture[length]) != NULL)
            return known[i].number;
    }
    return 0;
}

static int is_for(const uint8_t *code, int device)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)code;
    return (header->e_flags & 0xff) == number_of(architecture_of(device));
}

/* Returns the code object for the device in a fat binary, or the code object itself. */
static const uint8_t *select_code(const uint8_t *image, int device)
{
    static const char magic[] = "__CLANG_OFFLOAD_BUNDLE__";
    const uint8_t *at = image + strlen(magic);
    uint64_t numbers[3];
    uint64_t count = 0;
    if (memcmp(image, magic, strlen(magic)) != 0)
        return image;
    memcpy(&count, at, sizeof(count));
    for (at += sizeof(count); count > 0; --count) {
        memcpy(numbers, at, sizeof(numbers)); /* offset, size, length of the name */
        if (numbers[1] != 0 && is_for(image + numbers[0], device))
            return image + numbers[0];
        at += sizeof(numbers) + numbers[2];
    }
    return NULL;
}

static const Elf64_Shdr *section_of(const uint8_t *code, size_t index)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)code;
    return (const Elf64_Shdr *)(const void *)(code + header->e_shoff) + index;
}

static void take_name(struct ihipModule_t *module, const uint8_t *code, const Elf64_Shdr *symbols,
                      const Elf64_Sym *symbol)
{
    const Elf64_Shdr *names = section_of(code, symbols->sh_link);
    char *name = strdup((const char *)code + names->sh_offset + symbol->st_name);
    char *end = strlen(name) > 3 ? name + strlen(name) - 3 : name;
    if (ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT || strcmp(end, ".kd") != 0) {
        free(name);
        return;
    }
    *end = '\0';
    module->names = realloc(module->names, (module->name_count + 1) * sizeof(*module->names));
    module->names[module->name_count++] = name;
}

int hipModuleLoadData(struct ihipModule_t **module, const void *image)
{
    const int result = outcome("hipModuleLoadData");
    if (result != 0)
        return result;
    const uint8_t *code = select_code(image, current);
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)code;
    if (code == NULL)
        return NO_BINARY;
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_machine != 224 || header->e_type != ET_DYN)
        return INVALID_IMAGE;
    if (!is_for(code, current))
        return NO_BINARY;
    struct ihipModule_t *made = calloc(1, sizeof(*made));
    made->device = current;
    for (size_t i = 0; i < header->e_shnum; ++i) {
        const Elf64_Shdr *symbols = section_of(code, i);
        const Elf64_Sym *symbol = (const Elf64_Sym *)(const void *)(code + symbols->sh_offset);
        for (size_t n = 0; symbols->sh_type == SHT_DYNSYM && n < symbols->sh_size / sizeof(*symbol); ++n)
            take_name(made, code, symbols, symbol + n);
    }
    (void)count_modules(1);
    *module = made;
    return 0;
}

int hipModuleUnload(struct ihipModule_t *module)
{
    if (current != module->device)
        return INVALID_DEVICE;
    for (size_t i = 0; i < module->name_count; ++i)
        free(module->names[i]);
    free(module->names);
    free(module);
    (void)count_modules(-1);
    return 0;
}

int hipModuleGetFunction(void **function, struct ihipModule_t *module, const char *name)
{
    const int result = outcome("hipModuleGetFunction");
    if (result != 0 || current != module->device)
        return result != 0 ? result : INVALID_DEVICE;
    for (size_t i = 0; i < module->name_count; ++i) {
        if (strcmp(name, module->names[i]) == 0) {
            *function = module->names[i];
            return 0;
        }
    }
    return NOT_FOUND;
}
