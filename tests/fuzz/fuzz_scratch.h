/*
 * fuzz_scratch.h - provides a directory for fuzzers whose input must be in files, and corrects checksums in an input.
 */
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "support/scratch_directory.h"

extern "C" {
#include "persist/base/base.h"
}

namespace fuzz
{

using Bytes = std::vector<uint8_t>;

/* Returns a directory for the whole run, which is removed at the end. */
inline const std::string &scratch()
{
    static const ScratchDirectory directory;
    return directory.path().native();
}

inline void write_file(const std::string &path, const uint8_t *data, size_t size)
{
    const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, data, size) != static_cast<ssize_t>(size))
        abort();
    close(fd);
}

/* Writes the checksum of the `size` bytes at `from` to the offset `at`, if both lie within the input. Without corrected
 * checksums, nearly every input would be rejected at its first checksum. */
inline void set_checksum(Bytes *bytes, size_t at, size_t from, size_t size)
{
    if (at > bytes->size() || bytes->size() - at < CHECKSUM_SIZE || from > bytes->size() || size > bytes->size() - from)
        return;
    const struct checksum checksum = checksum_of(size, bytes->data() + from);
    std::memcpy(bytes->data() + at, checksum.bytes, CHECKSUM_SIZE);
}

} // namespace fuzz
