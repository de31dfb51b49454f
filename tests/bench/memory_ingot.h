/*
 * memory_ingot.h - the subjects of the benchmark that use Ingot's in-memory cache, over a backend that does nothing.
 */
#pragma once

#include <memory>

#include <ingot/ingot.h>

#include "bench/memory_measure.h"

namespace memory_bench
{

/* A context whose programs cost nothing to build. */
class NoopContext : NotCopied
{
public:
    explicit NoopContext(size_t max_programs, const ingot_allocator_t *allocator = nullptr);
    ~NoopContext();
    ingot_context_t get() const { return context_; }
    /* Makes a new descriptor over one prepared source, with 100 bytes of options that include `number`. */
    ingot_program_desc_t describe(size_t number) const;

private:
    ingot_context_t context_ = nullptr;
    ingot_source_t source_ = nullptr;
};

/* An atomic load, a retain and a release on the thread's own cache line. No cache can do less for a hit. */
std::unique_ptr<Subject> make_floor();
/* ingot_program_get and ingot_program_release, with one of `entries` descriptors whose programs are in memory. */
std::unique_ptr<Subject> make_hit(size_t entries);
/* ingot_kernel_get and ingot_kernel_release, with such a descriptor whose program has 8 kernels. */
std::unique_ptr<Subject> make_fast_kernel(size_t entries);
/* Makes a new descriptor that equals one of `entries`, creates its program, and releases both. */
std::unique_ptr<Subject> make_content_hit(size_t entries);
/* The same, with ingot_kernel_get instead of ingot_program_get. */
std::unique_ptr<Subject> make_content_kernel(size_t entries);
/* A miss, an insertion and an eviction in a full cache of `entries` programs, including the descriptor and the
 * releases. */
std::unique_ptr<Subject> make_eviction(size_t entries);

/* Returns the bytes of host memory per program, for `entries` programs that two threads have used. */
double entry_bytes(size_t entries);

} // namespace memory_bench
