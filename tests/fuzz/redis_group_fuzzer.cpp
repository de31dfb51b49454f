/*
 * redis_group_fuzzer.cpp - reads any bytes as the replies of Redis to a group of commands, with the code that reads
 * several replies from one connection, including its socket.
 *
 * Each command must end in the same way whether the bytes come in one piece or in two: with a value, which the bytes
 * must contain; without a value; or with a failure, which ends the group.
 *
 * Input: a byte with the number of commands, then the replies. The server closes the connection after them.
 */
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

extern "C" {
#include "remote/base/clock.h"
#include "remote/redis/connection.h"
}

namespace
{

const size_t kLimit = 1 << 14;
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

redis_connection connect_to(const uint8_t *data, size_t size, int *server)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0)
        abort();
    *server = ends[0];
    redis_connection connection = {};
    connection.stream.socket = ends[1];
    connection.reader = redisReaderCreate();
    if (send(*server, data, size, MSG_NOSIGNAL) != static_cast<ssize_t>(size))
        abort();
    shutdown(*server, SHUT_WR);
    return connection;
}

/* Reads the replies to a group of `count` commands. The reader gets `feed` bytes before it reads from the socket. */
std::vector<Result> read_group(const uint8_t *data, size_t size, size_t count, size_t feed)
{
    int server = -1;
    std::vector<Result> results;
    const size_t fed = feed < size ? feed : size;
    redis_connection connection = connect_to(data + fed, size - fed, &server);
    if (fed != 0 && redisReaderFeed(connection.reader, reinterpret_cast<const char *>(data), fed) != REDIS_OK)
        abort();
    outcome end = OUTCOME_DONE;
    for (size_t i = 0; i < count && end == OUTCOME_DONE; ++i) {
        request request = {};
        redisReply *reply = nullptr;
        request.deadline_ns = CLOCK_NEVER;
        request.stall_limit_ns = CLOCK_NEVER;
        end = redis_connection_next(&connection, &request, kLimit, &reply);
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
    redisReaderFree(connection.reader);
    close(connection.stream.socket);
    close(server);
    return results;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > 2 * kLimit)
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
