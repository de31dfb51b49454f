/*
 * memory_ingot.h - the benchmark's subjects of Ingot's in-memory cache, over a backend that does nothing.
 */
#ifndef INGOT_TESTS_BENCH_MEMORY_INGOT_H
#define INGOT_TESTS_BENCH_MEMORY_INGOT_H

#include <memory>

#include <ingot/ingot.h>

#include "bench/memory_measure.h"

namespace memory_bench
{

/* A context whose programs cost nothing to build. */
class NoopContext
{
public:
    explicit NoopContext(size_t max_programs, const ingot_allocator_t *allocator = nullptr);
    NoopContext(const NoopContext &) = delete;
    NoopContext &operator=(const NoopContext &) = delete;
    ~NoopContext();
    ingot_context_t get() const { return context_; }
    /* Makes a new descriptor over one prepared source, with 100 bytes of options that distinguish the numbers. */
    ingot_program_desc_t describe(size_t number) const;

private:
    ingot_context_t context_ = nullptr;
    ingot_source_t source_ = nullptr;
};

/* An atomic load, and an uncontended retain and release on the thread's own cache line: nothing can be faster. */
std::unique_ptr<Subject> make_floor();
/* ingot_program_create and release through one of `entries` descriptors, all in memory. */
std::unique_ptr<Subject> make_hit(size_t entries);
/* ingot_kernel_get and release likewise, of one of 8 kernels. */
std::unique_ptr<Subject> make_fast_kernel(size_t entries);
/* A new descriptor, create, and both released, likewise. */
std::unique_ptr<Subject> make_content_hit(size_t entries);
/* The same with ingot_kernel_get in place of create. */
std::unique_ptr<Subject> make_content_kernel(size_t entries);
/* A miss, an insertion and an eviction with a full cache of `entries`; descriptor and both releases included. */
std::unique_ptr<Subject> make_eviction(size_t entries);

/* Host memory for each of `entries` programs whose native part is empty, after two threads used each of them. */
double entry_bytes(size_t entries);

} // namespace memory_bench

#endif
