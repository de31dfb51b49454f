/*
 * programs.h - gets the network's programs from Ingot, which finds them in memory, loads them from a store, or
 * compiles them.
 */
#ifndef DIGITS_PROGRAMS_H
#define DIGITS_PROGRAMS_H

#include <ingot/opencl.h>
#include <ingot/persist.h>

#include "device.h"

/* The programs, in the order in which the network runs them. */
enum program {
    NORMALIZE,
    CONVOLVE_1,
    CONVOLVE_2,
    MAX_POOL,
    DENSE_HIDDEN,
    DENSE_CLASSES,
    SOFTMAX,
    ARGMAX,
    PROGRAM_COUNT
};

/* Work-group sizes. The kernels require exactly these, so that drivers generate machine code for one size. */
#define GROUP 64
#define TILE 8

struct programs {
    ingot_context_t context;
    ingot_storage_t store; /* NULL: nothing is stored. */
    ingot_program_t list[PROGRAM_COUNT];
    ingot_origin_t origins[PROGRAM_COUNT];
    double ms[PROGRAM_COUNT]; /* Time to read, describe, and build or load each program. */
};

/* Return the name of a program for output, and the name of its only kernel. */
const char *programs_name(enum program program);
const char *programs_kernel(enum program program);

/* Where programs are stored and recorded. */
struct programs_storage {
    const char *path;   /* NULL: no store, and nothing is recorded */
    const char *record; /* NULL: nothing is recorded */
    int keeps_requests; /* true: the store keeps what its programs are compiled from, for `ingot build --stale` */
    ingot_persist_store_mode_t store_mode;
};

/* Return 0. On failure, print the reason and return -1. */
int programs_open(struct programs *programs, const struct device *device, const struct programs_storage *storage);
int programs_make_all(struct programs *programs, const char *kernel_folder);

/* Stores the programs that are not stored yet. On a device that generates code at launch, blobs are complete only after
 * the first launches. */
void programs_flush(struct programs *programs);

void programs_close(struct programs *programs);

/* Returns 0 for success. Otherwise, prints the failed step and Ingot's error to stderr, and returns -1. */
int programs_check(ingot_status_t status, const char *doing);

#endif
