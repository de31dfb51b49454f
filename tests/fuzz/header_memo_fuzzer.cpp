/*
 * header_memo_fuzzer.cpp - reads any bytes as a memo of headers. If they are accepted, writing and reading the memo
 * again must give the same bytes. If they are rejected, the memo must stay empty. Each input is also tried with a
 * corrected size and a corrected checksum.
 */
#include <cstdlib>
#include <string>

#include <ingot/private/header_memo.h>

extern "C" {
#include "core/memo/header_memo.h"
#include "util/little_endian.h"
}

namespace
{

constexpr size_t kSizeOffset = 16;
constexpr size_t kLibraryOffset = 24;
constexpr size_t kHeaderSize = 56;
constexpr size_t kChecksumSize = 16;

void require(bool truth)
{
    if (!truth)
        abort();
}

ingot_status_t add(ingot_header_memo_t memo, const std::string &library, const std::string &bytes)
{
    return header_memo_add(memo, reinterpret_cast<const uint8_t *>(library.data()), bytes.size(),
                           reinterpret_cast<const uint8_t *>(bytes.data()));
}

std::string write(ingot_header_memo_t memo, const std::string &library)
{
    bytes_writer out;
    require(header_memo_write(memo, reinterpret_cast<const uint8_t *>(library.data()), &out) == INGOT_SUCCESS);
    const std::string bytes(reinterpret_cast<const char *>(out.bytes), out.size);
    bytes_writer_fini(&out);
    return bytes;
}

void try_bytes(const std::string &bytes)
{
    const std::string library =
        bytes.size() >= kHeaderSize ? bytes.substr(kLibraryOffset, DIGEST_SIZE) : std::string(DIGEST_SIZE, 0);
    ingot_allocator_t allocator;
    ingot_header_memo_t memo = nullptr;
    ingot_header_memo_t again = nullptr;
    require(memory_init(&allocator, nullptr) == INGOT_SUCCESS);
    require(header_memo_create(&memo, &allocator, 0) == INGOT_SUCCESS);
    require(header_memo_create(&again, &allocator, 0) == INGOT_SUCCESS);
    const std::string empty = write(memo, library);
    if (add(memo, library, bytes) != INGOT_SUCCESS)
        require(write(memo, library) == empty);
    const std::string written = write(memo, library);
    require(written.size() <= bytes.size() || written == empty); /* smaller if a key occurred twice */
    require(add(again, library, written) == INGOT_SUCCESS && write(again, library) == written);
    header_memo_release(again);
    header_memo_release(memo);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    std::string bytes(reinterpret_cast<const char *>(data), size);
    try_bytes(bytes);
    if (size < kHeaderSize + kChecksumSize)
        return 0;
    auto *place = reinterpret_cast<uint8_t *>(bytes.data());
    le_put_u64(place + kSizeOffset, size);
    const hash128 checksum = hash128_of(size - kChecksumSize, place);
    le_put_u64(place + size - kChecksumSize, checksum.low);
    le_put_u64(place + size - kChecksumSize + 8, checksum.high);
    try_bytes(bytes);
    return 0;
}
