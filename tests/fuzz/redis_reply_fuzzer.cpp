/*
 * redis_reply_fuzzer.cpp - reads any bytes as a reply of Redis, whole and in pieces. A reply that is accepted whole
 * must also be accepted in pieces, must not be an array, and must not exceed the limit for a string.
 */
#include <cstdint>
#include <cstdlib>
#include <initializer_list>

extern "C" {
#include "remote/redis/connection.h"
}

namespace
{

const size_t kLimit = 1 << 14;

/* Gives the bytes to the reader in pieces. Returns true if they make a reply. */
bool feed(const uint8_t *data, size_t size, size_t piece)
{
    redisReader *reader = redisReaderCreate();
    redisReply *reply = nullptr;
    request request = {};
    enum outcome outcome = OUTCOME_DONE;
    for (size_t at = 0; at < size && outcome == OUTCOME_DONE && reply == nullptr; at += piece) {
        outcome = redis_reply_feed(reader, &request, size - at < piece ? size - at : piece,
                                   reinterpret_cast<const char *>(data) + at, kLimit);
        if (outcome == OUTCOME_DONE)
            outcome = redis_reply_take_only(reader, &request, kLimit, &reply);
    }
    const bool is_reply = outcome == OUTCOME_DONE && reply != nullptr;
    if (outcome != OUTCOME_DONE && (reply != nullptr || request.failure[0] == '\0'))
        abort();
    if (is_reply && (reply->type == REDIS_REPLY_ARRAY || reply->len > kLimit))
        abort();
    if (reply != nullptr)
        freeReplyObject(reply);
    redisReaderFree(reader);
    return is_reply;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const bool is_whole = feed(data, size, size + 1);
    for (const size_t piece : {size_t{1}, size_t{7}})
        if (!feed(data, size, piece) && is_whole)
            abort();
    return 0;
}
