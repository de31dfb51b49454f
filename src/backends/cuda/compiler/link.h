/*
 * link.h - links pieces of code, including PTX, into complete machine code.
 */
#ifndef INGOT_BACKENDS_CUDA_COMPILER_LINK_H
#define INGOT_BACKENDS_CUDA_COMPILER_LINK_H

#include "backends/rtc/image.h"
#include "backends/rtc/options.h"
#include "util/nvjitlink.h"

#define NVJITLINK_NO_INLINE
#include <nvJitLink.h>

struct cuda_link {
    const ingot_allocator_t *allocator;
    ingot_sink_t *log;
    struct nvjitlink linker;
    void *handle;
};

/* Begins a link. The caller must call cuda_link_fini, even after a failure. */
ingot_status_t cuda_link_init(struct cuda_link *link, const ingot_allocator_t *allocator, unsigned driver_major,
                              const struct rtc_options *options, ingot_sink_t *log);
void cuda_link_fini(struct cuda_link *link);

/* Adds a piece, which is copied. PTX must end in a NUL that `size` does not count. */
ingot_status_t cuda_link_add(struct cuda_link *link, nvJitLinkInputType type, size_t size, const void *bytes,
                             const char *name);
ingot_status_t cuda_link_finish(struct cuda_link *link, struct rtc_bytes *cubin);

#endif
