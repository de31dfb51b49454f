/*
 * redis_group_fuzzer.cpp - reads any bytes as the replies of Redis to a group of commands, with the code that reads
 * several replies from one connection.
 *
 * Each command must end in the same way whether the bytes come in one piece or in two: with a value, which the bytes
 * must contain; without a value; or with a failure, which ends the group.
 *
 * Input: a byte with the number of commands, then the replies. The server closes the connection after them.
 */
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

extern "C" {
#include "remote/redis/connection.h"
}

namespace
{

const size_t kLimit = 1 << 15;
const size_t kMostCommands = 16;

struct Result {
    outcome end;
    int type;
    std::string value;
    bool operator==(const Result &other) const
    {
        return end == other.end && type == other.type && value == other.value;
    }
};

/* The bytes of a server, which arrive in two pieces. */
struct Bytes {
    const uint8_t *data;
    size_t size;
    size_t first;
};

/* Takes the next reply, and gives the reader more bytes if it needs them. */
outcome next(redisReader *reader, request *request, Bytes *left, redisReply **reply)
{
    outcome end = redis_reply_take(reader, request, reply);
    while (end == OUTCOME_DONE && *reply == nullptr && left->size != 0) {
        const size_t size = left->first != 0 && left->first < left->size ? left->first : left->size;
        if (redisReaderFeed(reader, reinterpret_cast<const char *>(left->data), size) != REDIS_OK)
            abort();
        *left = {left->data + size, left->size - size, 0};
        end = redis_reply_take(reader, request, reply);
    }
    return end == OUTCOME_DONE && *reply == nullptr ? request_fail(request, OUTCOME_UNREACHABLE, "no more bytes") : end;
}

/* Reads the replies to a group of `count` commands. The first piece has `first` bytes. */
std::vector<Result> read_group(const uint8_t *data, size_t size, size_t count, size_t first)
{
    std::vector<Result> results;
    redisReader *reader = redisReaderCreate();
    Bytes left = {data, size, first};
    outcome end = OUTCOME_DONE;
    for (size_t i = 0; i < count && end == OUTCOME_DONE; ++i) {
        request request = {};
        redisReply *reply = nullptr;
        end = next(reader, &request, &left, &reply);
        if ((end == OUTCOME_DONE) != (reply != nullptr) || (end != OUTCOME_DONE && request.failure[0] == '\0'))
            abort();
        if (reply == nullptr) {
            results.push_back({end, 0, ""});
            continue;
        }
        if (reply->type == REDIS_REPLY_ARRAY)
            abort();
        results.push_back({end, reply->type, reply->str != nullptr ? std::string(reply->str, reply->len) : ""});
        freeReplyObject(reply);
    }
    redisReaderFree(reader);
    return results;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > kLimit)
        return 0;
    const size_t count = 1 + data[0] % kMostCommands;
    const std::vector<Result> whole = read_group(data + 1, size - 1, count, 0);
    const std::string text(reinterpret_cast<const char *>(data + 1), size - 1);
    for (const Result &result : whole)
        if (result.type == REDIS_REPLY_STRING && text.find(result.value) == std::string::npos)
            abort();
    for (const size_t feed : {size_t{1}, size_t{7}, size / 2})
        if (!(read_group(data + 1, size - 1, count, feed) == whole))
            abort();
    return 0;
}
