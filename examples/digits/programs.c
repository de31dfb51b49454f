/*
 * programs.c - describes programs by source file and options; Ingot decides whether to compile them.
 */
#include "programs.h"

#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "data.h"

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

struct recipe {
    const char *name;
    const char *file;
    const char *kernel;
    const char *options;
};

static const struct recipe recipes[PROGRAM_COUNT] = {
    [NORMALIZE] = {"normalize", "normalize.cl", "normalize_pixels",
                   "-DGROUP=" TEXT(GROUP) " -DMAX_PIXEL=" TEXT(MAX_PIXEL)},
    [CONVOLVE_1] = {"convolve 1", "conv.cl", "convolve_3x3",
                    "-DIN_CHANNELS=1 -DOUT_CHANNELS=" TEXT(CONV1) " -DFUSE_RELU"},
    [CONVOLVE_2] = {"convolve 2", "conv.cl", "convolve_3x3",
                    "-DIN_CHANNELS=" TEXT(CONV1) " -DOUT_CHANNELS=" TEXT(CONV2) " -DFUSE_RELU"},
    [MAX_POOL] = {"max pool", "pool.cl", "max_pool_2x2", "-DGROUP=" TEXT(GROUP) " -DCHANNELS=" TEXT(CONV2)},
    [DENSE_HIDDEN] = {"dense hidden", "dense.cl", "dense",
                      "-DTILE=" TEXT(TILE) " -DINPUTS=" TEXT(POOLED) " -DOUTPUTS=" TEXT(HIDDEN) " -DFUSE_RELU"},
    [DENSE_CLASSES] = {"dense classes", "dense.cl", "dense",
                       "-DTILE=" TEXT(TILE) " -DINPUTS=" TEXT(HIDDEN) " -DOUTPUTS=" TEXT(CLASSES)},
    [SOFTMAX] = {"softmax", "softmax.cl", "softmax", "-DGROUP=" TEXT(GROUP) " -DCLASSES=" TEXT(CLASSES)},
    [ARGMAX] = {"argmax", "argmax.cl", "argmax", "-DGROUP=" TEXT(GROUP) " -DCLASSES=" TEXT(CLASSES)},
};

const char *programs_name(enum program program)
{
    return recipes[program].name;
}

const char *programs_kernel(enum program program)
{
    return recipes[program].kernel;
}

int programs_check(ingot_status_t status, const char *doing)
{
    if (status == INGOT_SUCCESS)
        return 0;
    fprintf(stderr, "digits: %s: %s: %s\n", doing, ingot_status_name(status), ingot_last_error_detail());
    return -1;
}

int programs_open(struct programs *programs, const struct device *device, const struct programs_storage *storage)
{
    const ingot_status_t status =
        ingot_opencl_context_create(&programs->context, device->context, 1, &device->id, NULL);
    if (programs_check(status, "context") != 0)
        return -1;
    if (storage->path == NULL)
        return 0;
    ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
    info.path = storage->path;
    info.store_mode = storage->store_mode;
    info.record_path = storage->record;
    info.flags = storage->keeps_requests ? INGOT_PERSIST_KEEP_REQUESTS : 0;
    if (programs_check(ingot_persist_open(&programs->store, &info), "store") != 0)
        fputs("digits: goes on without a store\n", stderr); /* a failing cache must not stop the application */
    return 0;
}

/* Creates the descriptor of a program from its source file and its options. */
static int describe(ingot_program_desc_t *desc, ingot_context_t context, const struct recipe *recipe,
                    const char *kernel_folder)
{
    char options[4096];
    const int length = snprintf(options, sizeof(options), "-cl-std=CL1.2 -I %s %s", kernel_folder, recipe->options);
    if (length < 0 || (size_t)length >= sizeof(options)) {
        fprintf(stderr, "digits: the kernels' path is too long\n");
        return -1;
    }
    ingot_source_t source = NULL;
    ingot_source_info_t source_info = INGOT_SOURCE_INFO_INIT;
    char *text = data_read_file(kernel_folder, recipe->file, &source_info.size);
    if (text == NULL)
        return -1;
    source_info.kind = INGOT_SOURCE_OPENCL_C;
    source_info.bytes = text;
    source_info.name = recipe->file;
    ingot_status_t status = ingot_source_create(&source, &source_info);
    free(text); /* The source has its own copy. */
    if (status == INGOT_SUCCESS) {
        ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
        info.sources = &source;
        info.source_count = 1;
        info.compile_options = options;
        status = ingot_program_desc_create(desc, context, &info);
    }
    ingot_source_release(source); /* The descriptor has its own reference. */
    return programs_check(status, recipe->name);
}

static int make(struct programs *programs, enum program which, const char *kernel_folder)
{
    ingot_program_desc_t desc = NULL;
    if (describe(&desc, programs->context, &recipes[which], kernel_folder) != 0)
        return -1;
    ingot_status_t status;
    if (programs->store != NULL) {
        status = ingot_persist_program_create(&programs->list[which], desc, programs->store, &programs->origins[which]);
    } else {
        status = ingot_program_get(&programs->list[which], desc, 0);
        programs->origins[which] = INGOT_ORIGIN_BUILD; /* Each program is requested once, so it is not in memory. */
    }
    ingot_program_desc_release(desc);
    return programs_check(status, recipes[which].name);
}

int programs_make_all(struct programs *programs, const char *kernel_folder)
{
    for (enum program which = NORMALIZE; which < PROGRAM_COUNT; ++which) {
        const double start = clock_ms();
        if (make(programs, which, kernel_folder) != 0)
            return -1;
        programs->ms[which] = clock_ms() - start;
    }
    return 0;
}

void programs_flush(struct programs *programs)
{
    if (programs->store != NULL && programs_check(ingot_persist_flush(programs->store, NULL, NULL), "flush") != 0)
        fputs("digits: the next start compiles again\n", stderr);
}

void programs_close(struct programs *programs)
{
    for (enum program which = NORMALIZE; which < PROGRAM_COUNT; ++which)
        ingot_program_release(programs->list[which]);
    ingot_storage_release(programs->store);
    ingot_context_release(programs->context);
}
