/*
 * groups.c - reads objects from Redis and Valkey; see groups.h.
 *
 * All commands are sent before the first reply is received. Each command is a GET, because the server may allow this
 * user no other commands, and because each object then has its own reply. Replies come in order, so the time of each
 * request begins when the previous reply has arrived, as if the object were requested alone. But once the group has
 * lasted as long as one load may take, it is given up: the connection is closed, and the caller must request the
 * remaining objects again, as after a broken connection.
 */
#include "remote/redis/groups.h"

#include <stdlib.h>
#include <string.h>

#include "remote/base/clock.h"
#include "remote/redis/commands.h"
#include "remote/redis/stream.h"

#define COMMAND_CAPACITY (REDIS_NAME_CAPACITY + 64u)

static enum outcome send_commands(struct redis *redis, struct redis_connection *connection, size_t count,
                                  struct fetch *fetches)
{
    char text[REDIS_MOST_OBJECTS * COMMAND_CAPACITY];
    size_t used = 0;
    for (size_t i = 0; i < count; ++i) {
        char name[REDIS_NAME_CAPACITY];
        char *command = NULL;
        const char *words[] = {"GET", name};
        const size_t sizes[] = {3, redis_write_name(redis, fetches[i].key, name)};
        const long long size = redisFormatCommandArgv(&command, 2, words, sizes);
        const bool fits = size > 0 && (size_t)size <= sizeof(text) - used;
        if (fits)
            memcpy(text + used, command, (size_t)size);
        free(command);
        if (!fits)
            return request_fail(&fetches[0].request, OUTCOME_NO_MEMORY, "no memory for a command");
        used += (size_t)size;
    }
    return stream_send(connection->stream, &fetches[0].request, used, text);
}

static void release_reply(ingot_buffer_t *object)
{
    freeReplyObject(object->owner);
}

/* Takes the object from a reply, or returns why the reply has none. In both cases, the connection stays usable. */
static enum outcome take_object(struct fetch *fetch, redisReply *reply)
{
    enum outcome outcome = OUTCOME_DONE;
    if (reply->type == REDIS_REPLY_STRING && reply->len <= fetch->max_size) {
        fetch->object = (ingot_buffer_t){
            .size = reply->len, .bytes = (const uint8_t *)reply->str, .release = release_reply, .owner = reply};
        return outcome;
    }
    if (reply->type == REDIS_REPLY_STRING)
        outcome =
            request_fail(&fetch->request, OUTCOME_TOO_LARGE, "the answer has more than %zu bytes", fetch->max_size);
    else if (reply->type == REDIS_REPLY_NIL)
        outcome = OUTCOME_MISSING;
    else if (reply->type == REDIS_REPLY_ERROR)
        outcome = redis_explain_error(&fetch->request, reply);
    else
        outcome =
            request_fail(&fetch->request, OUTCOME_BAD_ANSWER, "the server answers GET with neither a value nor nil");
    freeReplyObject(reply);
    return outcome;
}

/* Records how a fetch has ended. The time of the next fetch begins now, and its deadline moves accordingly. */
static void end(struct fetch *fetch, enum outcome outcome, struct fetch *next)
{
    fetch->outcome = outcome;
    fetch->ended_ns = clock_now_ns();
    if (next == NULL)
        return;
    const uint64_t shift_ns = fetch->ended_ns - next->began_ns;
    next->began_ns = fetch->ended_ns;
    next->request.deadline_ns =
        shift_ns < CLOCK_NEVER - next->request.deadline_ns ? next->request.deadline_ns + shift_ns : CLOCK_NEVER;
}

/* Receives replies. Sets *is_usable if the connection is still usable. Returns how many fetches have ended. */
static size_t receive(struct redis_connection *connection, size_t count, struct fetch *fetches, bool *is_usable)
{
    const uint64_t limit_ns = fetches[0].request.deadline_ns;
    for (size_t i = 0; i < count; ++i) {
        struct fetch *fetch = &fetches[i];
        struct fetch *next = i + 1 < count ? &fetches[i + 1] : NULL;
        redisReply *reply = NULL;
        const enum outcome outcome = (next != NULL ? redis_connection_next : redis_connection_last)(
            connection, &fetch->request, fetch->max_size, &reply);
        *is_usable = outcome == OUTCOME_DONE;
        end(fetch, *is_usable ? take_object(fetch, reply) : outcome, next);
        *is_usable = *is_usable && (next == NULL || fetch->ended_ns < limit_ns);
        if (!*is_usable)
            return i + 1;
    }
    return count;
}

size_t redis_get(void *self, size_t count, struct fetch *fetches)
{
    struct redis *redis = self;
    struct redis_connection *connection = NULL;
    bool is_usable = false;
    enum outcome outcome = redis_take_connection(redis, &fetches[0].request, &connection);
    if (outcome == OUTCOME_DONE)
        outcome = send_commands(redis, connection, count, fetches);
    if (outcome != OUTCOME_DONE) {
        end(&fetches[0], outcome, NULL);
        redis_connection_close(connection);
        return 1;
    }
    const size_t ended_count = receive(connection, count, fetches, &is_usable);
    if (is_usable)
        redis_give_connection(redis, connection);
    else
        redis_connection_close(connection);
    return ended_count;
}
