/*
 * redis.c - implements the transport to Redis and Valkey; see redis.h.
 *
 * Idle connections are in a pool. A request takes one from the pool or creates one, so any number of threads may make
 * requests at once. A connection whose request failed is closed, because the rest of an answer may still arrive on it.
 * Lock: one mutex for the pool, held for a few instructions.
 */
#include "remote/redis/redis.h"

#include <ingot/backend.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "remote/base/clock.h"
#include "remote/curl/library.h"
#include "remote/redis/commands.h"
#include "remote/redis/connection.h"
#include "remote/redis/leases.h"
#include "remote/redis/stream.h"

#define MOST_IDLE 16u
#define DEFAULT_PORT "6379"
#define DATABASE_CAPACITY 8u
#define NUMBER_CAPACITY 24u
#define MOST_OBJECTS 16u /* in one group */
#define COMMAND_CAPACITY (REDIS_NAME_CAPACITY + 64u)

struct redis {
    struct stream_server server;
    char name_space[72];
    char database[DATABASE_CAPACITY]; /* "": database 0 */
    char time_to_live[NUMBER_CAPACITY];
    pthread_mutex_t lock;
    struct redis_connection *idle; /* `lock` guards idle and idle_count */
    unsigned idle_count;
};

/* ---- connections ---- */

static bool has_error_prefix(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

static enum outcome explain_error(struct request *request, const redisReply *reply)
{
    static const char *const refusals[] = {"NOAUTH", "WRONGPASS", "NOPERM", "READONLY", "MISCONF", "OOM"};
    static const char *const of_clusters[] = {"MOVED ", "ASK ", "CLUSTERDOWN", "CROSSSLOT"};
    for (size_t i = 0; i < sizeof(of_clusters) / sizeof(of_clusters[0]); ++i)
        if (has_error_prefix(reply->str, of_clusters[i]))
            return request_fail(
                request, OUTCOME_REFUSED,
                "the server is part of a Redis Cluster, which is not supported, because it has only some "
                "of the objects; name a server or a proxy that has all: %.100s",
                reply->str);
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); ++i)
        if (has_error_prefix(reply->str, refusals[i]))
            return request_fail(request, OUTCOME_REFUSED, "the server refuses: %.200s", reply->str);
    return request_fail(request, OUTCOME_BAD_ANSWER, "the server answers: %.200s", reply->str);
}

/* Sends a command whose reply only reports success. */
static enum outcome send_simple_command(struct redis_connection *connection, struct request *request,
                                        const char *format, ...)
{
    redisReply *reply = NULL;
    va_list arguments;
    va_start(arguments, format);
    enum outcome outcome = redis_connection_ask(connection, request, &reply, format, arguments);
    va_end(arguments);
    if (outcome == OUTCOME_DONE && reply->type == REDIS_REPLY_ERROR)
        outcome = explain_error(request, reply);
    if (reply != NULL)
        freeReplyObject(reply);
    return outcome;
}

static enum outcome introduce_connection(const struct redis *redis, struct redis_connection *connection,
                                         struct request *request)
{
    const struct access *access = &redis->server.access;
    enum outcome outcome = OUTCOME_DONE;
    if (access->secret[0] != '\0' && access->user[0] != '\0')
        outcome = send_simple_command(connection, request, "AUTH %s %s", access->user, access->secret);
    else if (access->secret[0] != '\0')
        outcome = send_simple_command(connection, request, "AUTH %s", access->secret);
    if (outcome == OUTCOME_BAD_ANSWER)
        outcome = OUTCOME_REFUSED; /* Redis 5 answers ERR to a wrong password */
    if (outcome == OUTCOME_DONE && redis->database[0] != '\0')
        outcome = send_simple_command(connection, request, "SELECT %s", redis->database);
    return outcome;
}

static struct redis_connection *take_idle_connection(struct redis *redis)
{
    (void)pthread_mutex_lock(&redis->lock);
    struct redis_connection *connection = redis->idle;
    if (connection != NULL) {
        redis->idle = connection->next;
        --redis->idle_count;
    }
    (void)pthread_mutex_unlock(&redis->lock);
    return connection;
}

static enum outcome take_connection(struct redis *redis, struct request *request, struct redis_connection **connection)
{
    struct redis_connection *taken;
    while ((taken = take_idle_connection(redis)) != NULL) {
        if (stream_is_idle(&taken->stream)) {
            *connection = taken;
            return OUTCOME_DONE;
        }
        redis_connection_close(taken); /* the server has closed this connection, or has sent bytes on it */
    }
    enum outcome outcome = redis_connection_open(&redis->server, request, &taken);
    if (outcome != OUTCOME_DONE)
        return outcome;
    outcome = introduce_connection(redis, taken, request);
    if (outcome == OUTCOME_DONE)
        *connection = taken;
    else
        redis_connection_close(taken);
    return outcome;
}

static void give_connection(struct redis *redis, struct redis_connection *connection)
{
    (void)pthread_mutex_lock(&redis->lock);
    const bool has_room = redis->idle_count < MOST_IDLE;
    if (has_room) {
        connection->next = redis->idle;
        redis->idle = connection;
        ++redis->idle_count;
    }
    (void)pthread_mutex_unlock(&redis->lock);
    if (!has_room)
        redis_connection_close(connection);
}

/* ---- reading objects ----
 *
 * All commands are sent before the first reply is received. Each command is a GET, because the server may allow this
 * user no other commands, and because each object then has its own reply. Replies come in order, so the time of each
 * request begins when the previous reply has arrived, as if the object were requested alone. But once the group has
 * lasted as long as one load may take, it is given up: the connection is closed, and the caller must request the
 * remaining objects again, as after a broken connection.
 */

static enum outcome send_commands(struct redis *redis, struct redis_connection *connection, size_t count,
                                  struct fetch *fetches)
{
    char text[MOST_OBJECTS * COMMAND_CAPACITY];
    size_t used = 0;
    for (size_t i = 0; i < count; ++i) {
        char name[REDIS_NAME_CAPACITY];
        redis_write_name(redis, fetches[i].key, name);
        used +=
            (size_t)snprintf(text + used, sizeof(text) - used, "*2\r\n$3\r\nGET\r\n$%zu\r\n%s\r\n", strlen(name), name);
    }
    return stream_send(&connection->stream, &fetches[0].request, used, text);
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
        outcome = explain_error(&fetch->request, reply);
    else
        outcome =
            request_fail(&fetch->request, OUTCOME_BAD_ANSWER, "the server answers GET with neither a value nor nil");
    freeReplyObject(reply);
    return outcome;
}

/* Records how a fetch has ended. The time of the next fetch begins now, and its deadline moves accordingly. */
static void end_fetch(struct fetch *fetch, enum outcome outcome, struct fetch *next)
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
static size_t receive_replies(struct redis_connection *connection, size_t count, struct fetch *fetches, bool *is_usable)
{
    const uint64_t limit_ns = fetches[0].request.deadline_ns;
    for (size_t i = 0; i < count; ++i) {
        struct fetch *fetch = &fetches[i];
        struct fetch *next = i + 1 < count ? &fetches[i + 1] : NULL;
        redisReply *reply = NULL;
        const enum outcome outcome = (next != NULL ? redis_connection_next : redis_connection_last)(
            connection, &fetch->request, fetch->max_size, &reply);
        *is_usable = outcome == OUTCOME_DONE;
        end_fetch(fetch, *is_usable ? take_object(fetch, reply) : outcome, next);
        *is_usable = *is_usable && (next == NULL || fetch->ended_ns < limit_ns);
        if (!*is_usable)
            return i + 1;
    }
    return count;
}

static size_t redis_get_objects(void *self, size_t count, struct fetch *fetches)
{
    struct redis *redis = self;
    struct redis_connection *connection = NULL;
    bool is_usable = false;
    enum outcome outcome = take_connection(redis, &fetches[0].request, &connection);
    if (outcome == OUTCOME_DONE)
        outcome = send_commands(redis, connection, count, fetches);
    if (outcome != OUTCOME_DONE) {
        end_fetch(&fetches[0], outcome, NULL);
        redis_connection_close(connection);
        return 1;
    }
    const size_t ended_count = receive_replies(connection, count, fetches, &is_usable);
    if (is_usable)
        give_connection(redis, connection);
    else
        redis_connection_close(connection);
    return ended_count;
}

/* ---- other operations ---- */

enum outcome redis_ask(struct redis *redis, struct request *request, redisReply **reply, const char *format, ...)
{
    struct redis_connection *connection = NULL;
    va_list arguments;
    enum outcome outcome = take_connection(redis, request, &connection);
    if (outcome != OUTCOME_DONE)
        return outcome;
    va_start(arguments, format);
    outcome = redis_connection_ask(connection, request, reply, format, arguments);
    va_end(arguments);
    if (outcome != OUTCOME_DONE) {
        redis_connection_close(connection);
        return outcome;
    }
    give_connection(redis, connection);
    if ((*reply)->type != REDIS_REPLY_ERROR)
        return OUTCOME_DONE;
    outcome = explain_error(request, *reply);
    freeReplyObject(*reply);
    *reply = NULL;
    return outcome;
}

void redis_write_name(const struct redis *redis, const char *key, char name[REDIS_NAME_CAPACITY])
{
    (void)snprintf(name, REDIS_NAME_CAPACITY, "ingot:1:%s:%s", redis->name_space, key);
}

static enum outcome redis_put_object(void *self, struct request *request, const char *key, size_t size,
                                     const uint8_t *bytes)
{
    struct redis *redis = self;
    char name[REDIS_NAME_CAPACITY];
    redisReply *reply = NULL;
    redis_write_name(redis, key, name);
    const enum outcome outcome =
        redis->time_to_live[0] != '\0'
            ? redis_ask(redis, request, &reply, "SET %s %b EX %s", name, bytes, size, redis->time_to_live)
            : redis_ask(redis, request, &reply, "SET %s %b", name, bytes, size);
    if (outcome != OUTCOME_DONE)
        return outcome;
    const bool is_stored = reply->type == REDIS_REPLY_STATUS;
    freeReplyObject(reply);
    return is_stored ? OUTCOME_DONE
                     : request_fail(request, OUTCOME_BAD_ANSWER, "the server answers SET with something other than OK");
}

/* Returns the outcome of a command whose reply is the number of keys that it found. */
static enum outcome count_key(struct redis *redis, struct request *request, const char *command, const char *key)
{
    char name[REDIS_NAME_CAPACITY];
    redisReply *reply = NULL;
    redis_write_name(redis, key, name);
    const enum outcome outcome = redis_ask(redis, request, &reply, "%s %s", command, name);
    if (outcome != OUTCOME_DONE)
        return outcome;
    const bool is_number = reply->type == REDIS_REPLY_INTEGER;
    const bool is_found = is_number && reply->integer != 0;
    freeReplyObject(reply);
    if (!is_number)
        return request_fail(request, OUTCOME_BAD_ANSWER, "the server answers %s with something other than a number",
                            command);
    return is_found ? OUTCOME_DONE : OUTCOME_MISSING;
}

static enum outcome redis_remove_object(void *self, struct request *request, const char *key)
{
    return count_key(self, request, "DEL", key);
}

static enum outcome redis_has_object(void *self, struct request *request, const char *key)
{
    return count_key(self, request, "EXISTS", key);
}

static enum outcome redis_probe_server(void *self, struct request *request)
{
    redisReply *reply = NULL;
    const enum outcome outcome = redis_ask(self, request, &reply, "PING");
    if (outcome == OUTCOME_DONE)
        freeReplyObject(reply);
    return outcome;
}

static void free_redis(struct redis *redis)
{
    access_fini(&redis->server.access);
    free(redis);
}

static void destroy_redis(void *self)
{
    struct redis *redis = self;
    struct redis_connection *connection;
    while ((connection = take_idle_connection(redis)) != NULL)
        redis_connection_close(connection);
    (void)pthread_mutex_destroy(&redis->lock);
    free_redis(redis);
}

/* ---- opening ---- */

static ingot_status_t take_redis_server(struct stream_server *server, const struct url *url)
{
    const size_t length = url->scheme == URL_REDIS_UNIX ? strlen(url->path) : 0;
    if (length >= sizeof(server->socket_path))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS,
                                      "the path of the Unix socket has %zu bytes, and the system allows %zu", length,
                                      sizeof(server->socket_path) - 1);
    if (url->scheme == URL_REDIS_UNIX) {
        memcpy(server->socket_path, url->path, length + 1);
        (void)snprintf(server->url, sizeof(server->url), "http://localhost");
        return INGOT_SUCCESS;
    }
    (void)snprintf(server->url, sizeof(server->url), "%s://%s:%s", url->scheme == URL_REDIS_TLS ? "https" : "http",
                   url->host, url->port[0] != '\0' ? url->port : DEFAULT_PORT);
    return INGOT_SUCCESS;
}

static ingot_status_t take_settings(struct redis *redis, const struct url *url, const char *name_space,
                                    uint64_t time_to_live_s)
{
    if (url->scheme != URL_REDIS_UNIX && strcmp(url->path, "0") != 0)
        memcpy(redis->database, url->path, strlen(url->path) + 1);
    (void)snprintf(redis->name_space, sizeof(redis->name_space), "%s", name_space);
    if (time_to_live_s != 0)
        (void)snprintf(redis->time_to_live, sizeof(redis->time_to_live), "%llu", (unsigned long long)time_to_live_s);
    const ingot_status_t status = take_redis_server(&redis->server, url);
    return status == INGOT_SUCCESS ? access_init(&redis->server.access, url) : status;
}

ingot_status_t redis_open(struct transport *transport, const struct url *url, const char *name_space,
                          uint64_t time_to_live_s)
{
    static const struct transport_ops ops = {MOST_OBJECTS,        redis_get_objects, redis_put_object,
                                             redis_remove_object, redis_has_object,  redis_probe_server,
                                             destroy_redis,       &redis_leases};
    struct redis *redis = calloc(1, sizeof(*redis));
    if (redis == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a remote tier");
    ingot_status_t status = library_init();
    if (status == INGOT_SUCCESS)
        status = take_settings(redis, url, name_space, time_to_live_s);
    if (status != INGOT_SUCCESS) {
        free_redis(redis);
        return status;
    }
    pthread_mutex_init(&redis->lock, NULL);
    *transport = (struct transport){&ops, redis};
    return INGOT_SUCCESS;
}
