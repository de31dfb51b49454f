/*
 * driver_stand_in.c - what the drivers that simulate GPUs have in common: failures that no GPU produces on demand, and
 * the kernels of their modules. Every call to the function that the environment variable STAND_IN_FAIL names fails.
 */
#include "support/driver_stand_in.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects the variables below */
static char failing_call[64];
static int failing_result;
static int failing_times;
static int live_modules;

void stand_in_fail(const char *call, int result, int times)
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

int stand_in_live_modules(void)
{
    return count_modules(0);
}

int stand_in_outcome(const char *call)
{
    const char *failing = getenv("STAND_IN_FAIL");
    int result = failing != NULL && strcmp(call, failing) == 0 ? STAND_IN_OUT_OF_MEMORY : 0;
    pthread_mutex_lock(&lock);
    if (failing_times > 0 && strcmp(call, failing_call) == 0) {
        --failing_times;
        result = failing_result;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

static const Elf64_Shdr *section_of(const uint8_t *code, size_t index)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)code;
    return (const Elf64_Shdr *)(const void *)(code + header->e_shoff) + index;
}

void stand_in_kernels_init(struct stand_in_kernels *kernels, const uint8_t *code, Elf64_Word type,
                           size_t (*get_length)(const Elf64_Sym *symbol, const char *name))
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)code;
    *kernels = (struct stand_in_kernels){0, NULL};
    for (size_t i = 0; i < header->e_shnum; ++i) {
        const Elf64_Shdr *table = section_of(code, i);
        const Elf64_Sym *symbols = (const Elf64_Sym *)(const void *)(code + table->sh_offset);
        for (size_t n = 0; table->sh_type == type && n < table->sh_size / sizeof(*symbols); ++n) {
            const char *name = (const char *)code + section_of(code, table->sh_link)->sh_offset + symbols[n].st_name;
            const size_t length = get_length(&symbols[n], name);
            if (length == 0)
                continue;
            kernels->names = realloc(kernels->names, (kernels->count + 1) * sizeof(*kernels->names));
            kernels->names[kernels->count++] = strndup(name, length);
        }
    }
    (void)count_modules(1);
}

void stand_in_kernels_fini(struct stand_in_kernels *kernels)
{
    for (size_t i = 0; i < kernels->count; ++i)
        free(kernels->names[i]);
    free(kernels->names);
    (void)count_modules(-1);
}

char *stand_in_kernels_find(const struct stand_in_kernels *kernels, const char *name)
{
    for (size_t i = 0; i < kernels->count; ++i) {
        if (strcmp(name, kernels->names[i]) == 0)
            return kernels->names[i];
    }
    return NULL;
}
