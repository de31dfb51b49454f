/*
 * code_object.c - describes code objects and fat binaries; see compile.h.
 *
 * A fat binary begins with BUNDLE_MAGIC and the number of entries. An entry has the offset and the size of its bytes,
 * and its name, such as hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-, after the name's length. Numbers are 64-bit
 * little-endian. Compressed fat binaries are refused, because their parts could not be checked.
 */
#include "backends/hip/compiler/compile.h"

#include "util/little_endian.h"

#include <string.h>

#define EM_AMD_GPU 224u
#define BUNDLE_MAGIC "__CLANG_OFFLOAD_BUNDLE__"
#define NUMBER_SIZE 8u

static size_t get_kernel_name(const Elf64_Sym *symbol, const char *name)
{
    static const char end[] = ".kd"; /* of the kernel's descriptor */
    const size_t length = strlen(name);
    return ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT && length > strlen(end) &&
                   strcmp(name + length - strlen(end), end) == 0
               ? length - strlen(end)
               : 0;
}

static bool take_number(const uint8_t **at, const uint8_t *end, uint64_t *number)
{
    if (end - *at < (ptrdiff_t)NUMBER_SIZE)
        return false;
    *number = le_get_u64(*at);
    *at += NUMBER_SIZE;
    return true;
}

enum fit { FITS_NOT, FITS_IN_GENERAL, FITS_EXACTLY };

/* How an entry fits a device, by the rules of the driver: the processors are the same, and no feature is the opposite
 * of the device's. A feature that one of them does not name may be either. Only the driver knows which processors a
 * generic one, such as gfx9-generic, stands for. */
static enum fit fit_of(const char *architecture, size_t length, const char *name)
{
    const char *const end = name + length;
    const char *target = memmem(name, length, "gfx", 3);
    if (target == NULL)
        return FITS_NOT;
    const char *feature = memchr(target, ':', (size_t)(end - target));
    const size_t processor = (size_t)((feature != NULL ? feature : end) - target);
    const bool is_generic = memmem(target, processor, "-generic", 8) != NULL;
    if (!is_generic && (processor != strcspn(architecture, ":") || memcmp(target, architecture, processor) != 0))
        return FITS_NOT;
    while (feature != NULL) { /* such as ":xnack-" */
        const char *next = memchr(feature + 1, ':', (size_t)(end - feature - 1));
        const size_t size = (size_t)((next != NULL ? next : end) - feature) - 1; /* without the sign */
        const char *own = memmem(architecture, strlen(architecture), feature, size);
        if (own != NULL && own[size] != feature[size])
            return FITS_NOT;
        feature = next;
    }
    return is_generic ? FITS_IN_GENERAL : FITS_EXACTLY;
}

static bool unwrap_bundle(const char *architecture, size_t *size, const uint8_t **bytes)
{
    static const char magic[] = BUNDLE_MAGIC;
    const uint8_t *const start = *bytes;
    const uint8_t *const end = start + *size;
    const size_t all = *size;
    enum fit best = FITS_NOT;
    uint64_t count = 0;
    if (all < strlen(magic) || memcmp(start, magic, strlen(magic)) != 0)
        return true; /* not a bundle */
    const uint8_t *at = start + strlen(magic);
    bool is_whole = take_number(&at, end, &count);
    for (; count > 0 && is_whole; --count) {
        uint64_t offset = 0;
        uint64_t part_size = 0;
        uint64_t length = 0;
        is_whole = take_number(&at, end, &offset) && take_number(&at, end, &part_size) &&
                   take_number(&at, end, &length) && length <= (uint64_t)(end - at) && offset <= all &&
                   part_size <= all - offset;
        const enum fit fit = is_whole ? fit_of(architecture, (size_t)length, (const char *)at) : FITS_NOT;
        if (fit > FITS_NOT)
            is_whole = rtc_code_is_whole(&hip_code_object, (size_t)part_size, start + offset);
        if (is_whole && fit > best) {
            best = fit;
            *bytes = start + offset;
            *size = (size_t)part_size;
        }
        at += is_whole ? length : 0;
    }
    return is_whole && best > FITS_NOT;
}

const struct rtc_format hip_code_object = {"HIP", "INGOTHIP", EM_AMD_GPU, SHT_DYNSYM, get_kernel_name, unwrap_bundle};
