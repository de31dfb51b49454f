/*
 * pocl_binary.c - tells whether a binary of PoCL has all of the program's files; see pocl_binary.h.
 *
 * PoCL puts a binary together from the files in its cache directory. If somebody removes that directory meanwhile, PoCL
 * leaves files out, or takes them for empty, and reports success.
 *
 * A binary has a header, the program's files, and for each kernel a record that ends with the kernel's files. A file is
 * two texts, its path and its content, each after its length. A number before the program's files says how many bytes
 * they take. Only version 9 of the format is known here, that of PoCL 3.
 */
#include "backends/opencl/vendor/pocl_binary.h"

#include <string.h>

#include "util/bytes_reader.h"

#define MAGIC "poclbin"
#define VERSION 9u
enum { DEVICE_SIZE = 8, FLAGS_SIZE = 12, HASH_SIZE = 41 };

/* True if this is a list of files, and no path or content is empty. */
static bool are_files(const unsigned char *bytes, size_t size)
{
    struct bytes_reader reader;
    bytes_reader_init(&reader, size, bytes);
    bool is_good = true;
    for (size_t count = 0; is_good && (bytes_left(&reader) != 0 || count % 2 != 0); ++count) {
        const uint32_t text_size = bytes_get_u32(&reader);
        is_good = text_size != 0 && bytes_get(&reader, text_size) != NULL;
    }
    return is_good;
}

/* Reads the record of a kernel. */
static bool has_kernel_files(struct bytes_reader *reader)
{
    const uint64_t head_size = 2 * sizeof(uint64_t);
    const uint64_t record_size = bytes_get_u64(reader);
    const uint64_t files_size = bytes_get_u64(reader);
    if (record_size < head_size || files_size > record_size - head_size || record_size - head_size > bytes_left(reader))
        return false;
    (void)bytes_get(reader, (size_t)(record_size - head_size - files_size));
    return are_files(bytes_get(reader, (size_t)files_size), (size_t)files_size);
}

bool pocl_binary_is_complete(size_t size, const unsigned char *bytes)
{
    struct bytes_reader reader;
    bytes_reader_init(&reader, size, bytes);
    const unsigned char *magic = bytes_get(&reader, sizeof(MAGIC));
    if (magic == NULL || memcmp(magic, MAGIC, sizeof(MAGIC)) != 0)
        return true;
    (void)bytes_get(&reader, DEVICE_SIZE);
    const uint32_t version = bytes_get_u32(&reader);
    const uint32_t kernel_count = bytes_get_u32(&reader);
    if (version != VERSION)
        return true;
    (void)bytes_get(&reader, FLAGS_SIZE + HASH_SIZE);
    size_t files_size = 0;
    const unsigned char *files = bytes_get_framed(&reader, &files_size);
    bool is_complete = files_size != 0 && are_files(files, files_size);
    for (uint32_t i = 0; i < kernel_count && is_complete; ++i)
        is_complete = has_kernel_files(&reader);
    return is_complete && !reader.failed;
}
