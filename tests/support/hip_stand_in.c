/*
 * hip_stand_in.c - a libamdhip64.so that simulates GPUs, for machines without one; see driver_stand_in.c.
 *
 * It loads what the real hipRTC made, by the rules of the real driver: code objects for its own architecture, alone or
 * in a fat binary, and nothing else. It finds kernels in the code, but does not launch them. There are three GPUs, two
 * identical ones and a different one. The environment variable HIP_STAND_IN_ARCHITECTURE replaces the identical ones
 * with other GPUs.
 */
#include "support/driver_stand_in.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GPU_COUNT = 3, INVALID_DEVICE = 101 };
enum { NAME_OFFSET = 320 }; /* of gcnArchName: any place after the first 256 bytes */

struct ihipModule_t {
    int device;
    struct stand_in_kernels kernels;
};

static _Thread_local int current;

/* ---- devices ---- */

static const char *architecture_of(int device)
{
    const char *text = getenv("HIP_STAND_IN_ARCHITECTURE");
    return device == 2 ? "gfx1030" : text != NULL ? text : "gfx90a:sramecc+:xnack-";
}

const char *hipGetErrorName(int error)
{
    return error == STAND_IN_OUT_OF_MEMORY ? "hipErrorOutOfMemory" : "hipErrorOfStandIn";
}

int hipInit(unsigned flags)
{
    (void)flags;
    return stand_in_outcome("hipInit");
}

int hipGetDeviceCount(int *count)
{
    *count = GPU_COUNT;
    return stand_in_outcome("hipGetDeviceCount");
}

int hipGetDevice(int *device)
{
    *device = current;
    return stand_in_outcome("hipGetDevice");
}

int hipSetDevice(int device)
{
    const int result = stand_in_outcome("hipSetDevice");
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
    return stand_in_outcome("hipGetDeviceProperties");
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

static size_t get_length(const Elf64_Sym *symbol, const char *name)
{
    const size_t length = strlen(name);
    return ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT && length > 3 && strcmp(name + length - 3, ".kd") == 0
               ? length - 3
               : 0;
}

int hipModuleLoadData(struct ihipModule_t **module, const void *image)
{
    const int result = stand_in_outcome("hipModuleLoadData");
    if (result != 0)
        return result;
    const uint8_t *code = select_code(image, current);
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)code;
    if (code == NULL)
        return STAND_IN_NO_BINARY;
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_machine != 224 || header->e_type != ET_DYN)
        return STAND_IN_INVALID_IMAGE;
    if (!is_for(code, current))
        return STAND_IN_NO_BINARY;
    struct ihipModule_t *made = calloc(1, sizeof(*made));
    made->device = current;
    stand_in_kernels_init(&made->kernels, code, SHT_DYNSYM, get_length);
    *module = made;
    return 0;
}

int hipModuleUnload(struct ihipModule_t *module)
{
    if (current != module->device)
        return INVALID_DEVICE;
    stand_in_kernels_fini(&module->kernels);
    free(module);
    return 0;
}

int hipModuleGetFunction(void **function, struct ihipModule_t *module, const char *name)
{
    const int result = stand_in_outcome("hipModuleGetFunction");
    if (result != 0 || current != module->device)
        return result != 0 ? result : INVALID_DEVICE;
    *function = stand_in_kernels_find(&module->kernels, name);
    return *function != NULL ? 0 : STAND_IN_NOT_FOUND;
}
