/*
 * connection.c - a connection to Redis or Valkey; see connection.h.
 */
#include "remote/redis/connection.h"

#include <stdlib.h>
#include <string.h>

#define LINE_SIZE 4096u /* room for the first line of a reply, and for what hiredis still keeps of an earlier one */

enum outcome redis_connection_open(const struct stream_server *server, struct request *request,
                                   struct redis_connection **connection)
{
    struct redis_connection *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return request_fail(request, OUTCOME_NO_MEMORY, "no memory for a connection");
    made->reader = redisReaderCreate();
    enum outcome outcome = stream_open(server, request, &made->stream);
    if (made->reader == NULL)
        outcome = request_fail(request, OUTCOME_NO_MEMORY, "no memory for a connection");
    if (outcome == OUTCOME_DONE)
        *connection = made;
    else
        redis_connection_close(made);
    return outcome;
}

void redis_connection_close(struct redis_connection *connection)
{
    if (connection == NULL)
        return;
    if (connection->reader != NULL)
        redisReaderFree(connection->reader);
    if (stream_close(&connection->stream))
        free(connection);
}

/* Refuses a reply if its first byte shows that it is of a kind that the command does not return. A list, for example,
 * could claim any number of elements, for which hiredis would allocate memory. The reader's ridx is -1 between replies.
 */
static enum outcome check_kind(const redisReader *reader, struct request *request, char first)
{
    if (reader->ridx == -1 && (first == '\0' || strchr(request->takes_list ? "$+-:*" : "$+-:", first) == NULL))
        return request_fail(request, OUTCOME_BAD_ANSWER, "the answer is not one of Redis to this command");
    return OUTCOME_DONE;
}

/* Takes a complete reply from the reader, if there is one. Refuses a reply that is too long, before memory for the rest
 * of it is allocated. */
enum outcome redis_reply_take(redisReader *reader, struct request *request, size_t max_size, redisReply **reply)
{
    void *found = NULL;
    if (reader->pos == reader->len) /* otherwise, hiredis would set ridx to 0, which turns off check_kind */
        return OUTCOME_DONE;
    const enum outcome outcome = check_kind(reader, request, reader->buf[reader->pos]);
    if (outcome != OUTCOME_DONE)
        return outcome;
    if (redisReaderGetReply(reader, &found) != REDIS_OK)
        return request_fail(request, OUTCOME_BAD_ANSWER, "the answer is not one of Redis: %.100s", reader->errstr);
    if (found == NULL && reader->len - reader->pos > max_size)
        return request_fail(request, OUTCOME_TOO_LARGE, "the answer has more than %zu bytes", max_size);
    *reply = found;
    return OUTCOME_DONE;
}

enum outcome redis_reply_feed(redisReader *reader, struct request *request, size_t size, const char *bytes)
{
    if (size == 0)
        return OUTCOME_DONE;
    const enum outcome outcome = check_kind(reader, request, bytes[0]);
    if (outcome != OUTCOME_DONE)
        return outcome;
    if (redisReaderFeed(reader, bytes, size) != REDIS_OK)
        return request_fail(request, OUTCOME_NO_MEMORY, "no memory for an answer");
    return OUTCOME_DONE;
}

/* Receives a reply. Refuses bytes that follow it. */
static enum outcome receive_reply(struct redis_connection *connection, struct request *request, size_t max_size,
                                  redisReply **reply)
{
    const size_t limit = max_size > SIZE_MAX - LINE_SIZE ? SIZE_MAX : max_size + LINE_SIZE;
    enum outcome outcome = OUTCOME_DONE;
    while (outcome == OUTCOME_DONE && *reply == NULL) {
        size_t size = 0;
        outcome = stream_receive(&connection->stream, request, sizeof(connection->chunk), connection->chunk, &size);
        if (outcome == OUTCOME_DONE)
            outcome = redis_reply_feed(connection->reader, request, size, connection->chunk);
        if (outcome == OUTCOME_DONE)
            outcome = redis_reply_take(connection->reader, request, limit, reply);
    }
    if (outcome != OUTCOME_DONE || connection->reader->len == connection->reader->pos)
        return outcome;
    freeReplyObject(*reply);
    *reply = NULL;
    return request_fail(request, OUTCOME_BAD_ANSWER, "the server sent more than one answer");
}

enum outcome redis_connection_ask(struct redis_connection *connection, struct request *request, size_t max_size,
                                  redisReply **reply, const char *format, va_list arguments)
{
    char *text = NULL;
    const int size = redisvFormatCommand(&text, format, arguments);
    if (size < 0)
        return request_fail(request, OUTCOME_NO_MEMORY, "no memory for a command");
    enum outcome outcome = stream_send(&connection->stream, request, (size_t)size, text);
    free(text);
    *reply = NULL;
    return outcome == OUTCOME_DONE ? receive_reply(connection, request, max_size, reply) : outcome;
}
