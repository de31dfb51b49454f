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

#include "remote/curl/library.h"
#include "remote/redis/commands.h"
#include "remote/redis/connection.h"
#include "remote/redis/groups.h"
#include "remote/redis/leases.h"
#include "remote/redis/stream.h"

#define MOST_IDLE 16u
#define DEFAULT_PORT "6379"
#define DATABASE_CAPACITY 8u
#define NUMBER_CAPACITY 24u

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

static bool begins_with(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

enum outcome redis_explain_error(struct request *request, const redisReply *reply)
{
    static const char *const refusals[] = {"NOAUTH", "WRONGPASS", "NOPERM", "READONLY", "MISCONF", "OOM"};
    static const char *const of_clusters[] = {"MOVED ", "ASK ", "CLUSTERDOWN", "CROSSSLOT"};
    for (size_t i = 0; i < sizeof(of_clusters) / sizeof(of_clusters[0]); ++i)
        if (begins_with(reply->str, of_clusters[i]))
            return request_fail(
                request, OUTCOME_REFUSED,
                "the server is part of a Redis Cluster, which is not supported, because it has only some "
                "of the objects; name a server or a proxy that has all: %.100s",
                reply->str);
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); ++i)
        if (begins_with(reply->str, refusals[i]))
            return request_fail(request, OUTCOME_REFUSED, "the server refuses: %.200s", reply->str);
    return request_fail(request, OUTCOME_BAD_ANSWER, "the server answers: %.200s", reply->str);
}

/* Sends a command whose reply only reports success. */
static enum outcome tell(struct redis_connection *connection, struct request *request, int count, const char **words)
{
    size_t sizes[4];
    redisReply *reply = NULL;
    for (int i = 0; i < count; ++i)
        sizes[i] = strlen(words[i]);
    const struct redis_command command = {.count = count, .words = words, .sizes = sizes};
    enum outcome outcome = redis_connection_ask(connection, request, &command, &reply);
    if (outcome == OUTCOME_DONE && reply->type == REDIS_REPLY_ERROR)
        outcome = redis_explain_error(request, reply);
    if (reply != NULL)
        freeReplyObject(reply);
    return outcome;
}

static enum outcome introduce(const struct redis *redis, struct redis_connection *connection, struct request *request)
{
    const struct access *access = &redis->server.access;
    const char *with_user[] = {"AUTH", access->user, access->secret};
    const char *without_user[] = {"AUTH", access->secret};
    const char *select[] = {"SELECT", redis->database};
    enum outcome outcome = OUTCOME_DONE;
    if (access->secret[0] != '\0' && access->user[0] != '\0')
        outcome = tell(connection, request, 3, with_user);
    else if (access->secret[0] != '\0')
        outcome = tell(connection, request, 2, without_user);
    if (outcome == OUTCOME_BAD_ANSWER)
        outcome = OUTCOME_REFUSED; /* Redis 5 answers ERR to a wrong password */
    if (outcome == OUTCOME_DONE && redis->database[0] != '\0')
        outcome = tell(connection, request, 2, select);
    return outcome;
}

static struct redis_connection *take_idle(struct redis *redis)
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

enum outcome redis_take_connection(struct redis *redis, struct request *request, struct redis_connection **connection)
{
    struct redis_connection *taken;
    while ((taken = take_idle(redis)) != NULL) {
        if (stream_is_idle(taken->stream)) {
            *connection = taken;
            return OUTCOME_DONE;
        }
        redis_connection_close(taken); /* the server has closed this connection, or has sent bytes on it */
    }
    enum outcome outcome = redis_connection_open(&redis->server, request, &taken);
    if (outcome != OUTCOME_DONE)
        return outcome;
    outcome = introduce(redis, taken, request);
    if (outcome == OUTCOME_DONE)
        *connection = taken;
    else
        redis_connection_close(taken);
    return outcome;
}

void redis_give_connection(struct redis *redis, struct redis_connection *connection)
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

/* ---- operations ---- */

enum outcome redis_ask(struct redis *redis, struct request *request, const struct redis_command *command,
                       redisReply **reply)
{
    struct redis_connection *connection = NULL;
    enum outcome outcome = redis_take_connection(redis, request, &connection);
    if (outcome != OUTCOME_DONE)
        return outcome;
    outcome = redis_connection_ask(connection, request, command, reply);
    if (outcome != OUTCOME_DONE) {
        redis_connection_close(connection);
        return outcome;
    }
    redis_give_connection(redis, connection);
    if ((*reply)->type != REDIS_REPLY_ERROR)
        return OUTCOME_DONE;
    outcome = redis_explain_error(request, *reply);
    freeReplyObject(*reply);
    *reply = NULL;
    return outcome;
}

size_t redis_write_name(const struct redis *redis, const char *key, char name[REDIS_NAME_CAPACITY])
{
    return (size_t)snprintf(name, REDIS_NAME_CAPACITY, "ingot:1:%s:%s", redis->name_space, key);
}

static enum outcome put(void *self, struct request *request, const char *key, size_t size, const uint8_t *bytes)
{
    const struct redis *redis = self;
    char name[REDIS_NAME_CAPACITY];
    const char *words[] = {"SET", name, (const char *)bytes, "EX", redis->time_to_live};
    const size_t sizes[] = {3, redis_write_name(self, key, name), size, 2, strlen(redis->time_to_live)};
    const bool is_limited = redis->time_to_live[0] != '\0';
    const struct redis_command command = {.count = is_limited ? 5 : 3, .words = words, .sizes = sizes};
    redisReply *reply = NULL;
    const enum outcome outcome = redis_ask(self, request, &command, &reply);
    if (outcome != OUTCOME_DONE)
        return outcome;
    const bool is_stored = reply->type == REDIS_REPLY_STATUS;
    freeReplyObject(reply);
    return is_stored ? OUTCOME_DONE
                     : request_fail(request, OUTCOME_BAD_ANSWER, "the server answers SET with something other than OK");
}

/* Returns the outcome of a command whose reply is the number of keys that it found. */
static enum outcome count_key(struct redis *redis, struct request *request, const char *command_name, const char *key)
{
    char name[REDIS_NAME_CAPACITY];
    const char *words[] = {command_name, name};
    const size_t sizes[] = {strlen(command_name), redis_write_name(redis, key, name)};
    const struct redis_command command = {.count = 2, .words = words, .sizes = sizes};
    redisReply *reply = NULL;
    const enum outcome outcome = redis_ask(redis, request, &command, &reply);
    if (outcome != OUTCOME_DONE)
        return outcome;
    const bool is_number = reply->type == REDIS_REPLY_INTEGER;
    const bool is_found = is_number && reply->integer != 0;
    freeReplyObject(reply);
    if (!is_number)
        return request_fail(request, OUTCOME_BAD_ANSWER, "the server answers %s with something other than a number",
                            command_name);
    return is_found ? OUTCOME_DONE : OUTCOME_MISSING;
}

static enum outcome remove_key(void *self, struct request *request, const char *key)
{
    return count_key(self, request, "DEL", key);
}

static enum outcome has(void *self, struct request *request, const char *key)
{
    return count_key(self, request, "EXISTS", key);
}

static enum outcome probe(void *self, struct request *request)
{
    const char *words[] = {"PING"};
    const size_t sizes[] = {4};
    const struct redis_command command = {.count = 1, .words = words, .sizes = sizes};
    redisReply *reply = NULL;
    const enum outcome outcome = redis_ask(self, request, &command, &reply);
    if (outcome == OUTCOME_DONE)
        freeReplyObject(reply);
    return outcome;
}

static void wipe(struct redis *redis)
{
    access_fini(&redis->server.access);
    free(redis);
}

static void destroy(void *self)
{
    struct redis *redis = self;
    struct redis_connection *connection;
    while ((connection = take_idle(redis)) != NULL)
        redis_connection_close(connection);
    (void)pthread_mutex_destroy(&redis->lock);
    wipe(redis);
}

/* ---- opening ---- */

static ingot_status_t take_server(struct stream_server *server, const struct url *url)
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
    const ingot_status_t status = take_server(&redis->server, url);
    return status == INGOT_SUCCESS ? access_init(&redis->server.access, url) : status;
}

ingot_status_t redis_open(struct transport *transport, const struct url *url, const char *name_space,
                          uint64_t time_to_live_s)
{
    static const struct transport_ops ops = {REDIS_MOST_OBJECTS, redis_get, put, remove_key, has, probe, destroy,
                                             &redis_leases};
    struct redis *redis = calloc(1, sizeof(*redis));
    if (redis == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a remote tier");
    ingot_status_t status = library_init();
    if (status == INGOT_SUCCESS)
        status = take_settings(redis, url, name_space, time_to_live_s);
    if (status == INGOT_SUCCESS && pthread_mutex_init(&redis->lock, NULL) != 0)
        status = ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a remote tier's lock");
    if (status != INGOT_SUCCESS) {
        wipe(redis);
        return status;
    }
    *transport = (struct transport){&ops, redis};
    return INGOT_SUCCESS;
}
