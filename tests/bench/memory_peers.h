/*
 * memory_peers.h - other caches as subjects of the benchmark. NULL if the peer was not available when the benchmark was
 * built.
 */
#ifndef INGOT_TESTS_BENCH_MEMORY_PEERS_H
#define INGOT_TESTS_BENCH_MEMORY_PEERS_H

#include <memory>

#include "bench/memory_measure.h"

namespace memory_bench
{

/* std::unordered_map from 64-bit keys to std::shared_ptr under a std::shared_mutex: find, copy, drop. */
std::unique_ptr<Subject> make_map(size_t entries);
/* liburcu's lock-free hash table by 64-bit keys: look up, take a reference, drop it. */
std::unique_ptr<Subject> make_urcu(size_t entries);
/* oneDNN: dnnl_primitive_create and destroy, from one of `entries` primitive descriptors, with all primitives cached.
 * One function uses a convolution, the other the element-wise primitive. */
std::unique_ptr<Subject> make_onednn(size_t entries);
std::unique_ptr<Subject> make_onednn_relu(size_t entries);
/* oneDNN's convolution: makes and destroys an operation descriptor, a primitive descriptor and a primitive, which is
 * cached. */
std::unique_ptr<Subject> make_onednn_content(size_t entries);

} // namespace memory_bench

#endif
