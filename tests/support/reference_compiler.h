/*
 * reference_compiler.h - the compiler of the reference backend, and its code: bytes that can be stored and run.
 */
#pragma once

#include <ingot/backend.h>

/* The bytes are "REFCODE1", the target's name in 24 bytes, and the kernels. Each kernel has a name in 32 bytes, a
 * 32-bit count, and as many operations, each of a character and eight bytes. */
enum { REFERENCE_TARGET_AT = 8, REFERENCE_TARGET_SIZE = 24 };

struct reference_code {
    size_t size;
    uint8_t *bytes;
};

ingot_status_t reference_compile(struct reference_code *code, const ingot_build_request_t *request, const char *target,
                                 ingot_sink_t *log);
/* Returns INGOT_BLOB_REJECTED for bytes that are not code for this target. */
ingot_status_t reference_code_copy(struct reference_code *code, size_t size, const uint8_t *bytes, const char *target);
ingot_status_t reference_code_names(const struct reference_code *code, ingot_sink_t *names);
ingot_status_t reference_code_find(const struct reference_code *code, const char *name, size_t *offset);
ingot_status_t reference_code_run(const struct reference_code *code, size_t offset, int64_t x, int64_t *result);
