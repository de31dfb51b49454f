/*
 * impostor.h - makes blobs with sound checksums whose binary is not what its place in the blob says.
 */
#pragma once

#include "conformance/objects.h"

namespace conformance
{

/* Returns the binary of a blob that has one section (doc/blob-format.md). */
Bytes binary_of(const Bytes &blob);
/* Returns the blob that device 0 would make of two_kernels() if this were its binary. */
Bytes blob_with_binary(const Bytes &binary);

} // namespace conformance
