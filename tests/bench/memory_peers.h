/*
 * memory_peers.h - the subjects of the benchmark that use other caches.
 *
 * A function returns null if its cache's library was not available when the benchmark was built.
 */
#pragma once

#include <memory>

#include "bench/memory_measure.h"

namespace memory_bench
{

/* A std::unordered_map from 64-bit keys to std::shared_ptr, with a std::shared_mutex: finds, copies, and drops the
 * copy. */
std::unique_ptr<Subject> make_map(size_t entries);
/* liburcu's lock-free hash table with 64-bit keys: looks up, takes a reference, drops it. */
std::unique_ptr<Subject> make_urcu(size_t entries);
/* oneDNN: dnnl_primitive_create and dnnl_primitive_destroy, with one of `entries` primitive descriptors of convolutions
 * whose primitives are cached. */
std::unique_ptr<Subject> make_onednn(size_t entries);
/* oneDNN's convolutions: makes a new operation descriptor and primitive descriptor, creates the primitive, which is
 * cached, and destroys all. */
std::unique_ptr<Subject> make_onednn_content(size_t entries);

} // namespace memory_bench
