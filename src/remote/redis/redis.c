/*
 * redis.c - implements the transport to Redis and Valkey; see base/base.h.
 *
 * Idle connections are in a pool. A request takes one from the pool or creates one, so any number of threads may make
 * requests at once. A connection whose request failed is closed, because the rest of an answer may still arrive on it.
 * A connection from the pool may be dead without a sign: the machine slept, or a router forgot it. So a request that
 * gets no answer on one is made again at once on a new one, within its own limits. All commands can be repeated, except
 * that a wish is lost if the answer to BZPOPMIN is, and is then left again by the next process that misses it.
 */
#include <ingot/backend.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "remote/base/base.h"
#include "remote/object/envelope.h"
#include "remote/redis/connection.h"
#include "util/nanoseconds.h"

#define LIST_SIZE 1048576u /* the largest part of a list of names */
#define MOST_WISHES 4096u
#define WISH_TIME_S 3600u
#define DEFAULT_PORT "6379"
#define URL_OF_SERVER_CAPACITY 320u /* "https://", a host of at most 255 bytes, ":" and a port */
#define SOCKET_PATH_CAPACITY 108u
#define NAME_CAPACITY 200u /* "ingot:1:", a namespace of at most 64 bytes, ":", 64 digits, and ":lease" */
#define NUMBER_CAPACITY 24u
#define LIVELY_NS NS_PER_SECOND /* a connection that was used since then is not dead */
#define DEAD_PARTS 4u           /* a part of a request's limits shows that another one is */

struct redis {
    char url[URL_OF_SERVER_CAPACITY];
    const struct access *access;
    const char *name_space;
    char time_to_live[NUMBER_CAPACITY];
    struct pool pool;
};

/* ---- connections ---- */

static enum outcome explain_error(struct request *request, const redisReply *reply)
{
    static const char *const refusals[] = {"NOAUTH", "WRONGPASS", "NOPERM", "READONLY", "MISCONF", "OOM"};
    static const char *const of_clusters[] = {"MOVED ", "ASK ", "CLUSTERDOWN", "CROSSSLOT"};
    for (size_t i = 0; i < sizeof(of_clusters) / sizeof(of_clusters[0]); ++i)
        if (strncmp(reply->str, of_clusters[i], strlen(of_clusters[i])) == 0)
            return request_fail(
                request, OUTCOME_REFUSED,
                "the server is part of a Redis Cluster, which is not supported, because it has only some "
                "of the objects; name a server or a proxy that has all: %.100s",
                reply->str);
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); ++i)
        if (strncmp(reply->str, refusals[i], strlen(refusals[i])) == 0)
            return request_fail(request, OUTCOME_REFUSED, "the server refuses: %.200s", reply->str);
    return request_fail(request, OUTCOME_BAD_ANSWER, "the server answers: %.200s", reply->str);
}

/* Sends a command of a new connection, whose reply only reports success. */
static enum outcome introduce(struct redis_connection *connection, struct request *request, const char *format, ...)
{
    redisReply *reply = NULL;
    va_list arguments;
    va_start(arguments, format);
    enum outcome outcome = redis_connection_ask(connection, request, 0, &reply, format, arguments);
    va_end(arguments);
    if (outcome == OUTCOME_DONE && reply->type == REDIS_REPLY_ERROR)
        outcome = explain_error(request, reply);
    if (reply != NULL)
        freeReplyObject(reply);
    return outcome;
}

static enum outcome open_connection(struct redis *redis, struct request *request, struct redis_connection **connection)
{
    const struct access *access = redis->access;
    const char *database = access->url.scheme != URL_REDIS_UNIX ? access->url.path : "";
    enum outcome outcome = redis_connection_open(redis->url, access, request, connection);
    if (outcome != OUTCOME_DONE)
        return outcome;
    if (access->secret[0] != '\0' && access->url.user[0] != '\0')
        outcome = introduce(*connection, request, "AUTH %s %s", access->url.user, access->secret);
    else if (access->secret[0] != '\0')
        outcome = introduce(*connection, request, "AUTH %s", access->secret);
    if (outcome == OUTCOME_BAD_ANSWER)
        outcome = OUTCOME_REFUSED; /* Redis 5 answers ERR to a wrong password */
    if (outcome == OUTCOME_DONE && database[0] != '\0' && strcmp(database, "0") != 0)
        outcome = introduce(*connection, request, "SELECT %s", database);
    if (outcome != OUTCOME_DONE)
        redis_connection_close(*connection);
    return outcome;
}

static void close_handle(struct handle *handle)
{
    redis_connection_close((struct redis_connection *)handle);
}

/* Takes a connection from the pool. Closes those that the server has closed, or has sent bytes on. */
static struct redis_connection *take_idle_connection(struct redis *redis)
{
    struct handle *handle;
    while ((handle = pool_take(&redis->pool)) != NULL && !redis_connection_is_idle((struct redis_connection *)handle))
        close_handle(handle);
    return (struct redis_connection *)handle;
}

/* ---- commands ---- */

/* Sends a command on a connection, and keeps the connection unless that fails. */
static enum outcome ask_on(struct redis *redis, struct redis_connection *connection, struct request *request,
                           size_t max_size, redisReply **reply, const char *format, va_list arguments)
{
    const enum outcome outcome = redis_connection_ask(connection, request, max_size, reply, format, arguments);
    if (outcome == OUTCOME_DONE)
        pool_give(&redis->pool, &connection->handle);
    else
        redis_connection_close(connection);
    return outcome;
}

/* Sends a command on a connection from the pool. Returns false if there is none that works; if one is dead, all of the
 * pool are taken for dead. */
static bool ask_on_idle(struct redis *redis, struct request *request, size_t max_size, redisReply **reply,
                        enum outcome *outcome, const char *format, va_list arguments)
{
    const uint64_t now_ns = nanoseconds_now();
    const uint64_t left_ns = request->deadline_ns > now_ns ? request->deadline_ns - now_ns : 0;
    struct redis_connection *connection = take_idle_connection(redis);
    if (connection == NULL)
        return false;
    struct request short_request = *request;
    if (nanoseconds_of(CLOCK_BOOTTIME) - connection->handle.idle_since_ns > LIVELY_NS)
        short_request.stall_limit_ns =
            (left_ns < request->stall_limit_ns ? left_ns : request->stall_limit_ns) / DEAD_PARTS;
    *outcome = ask_on(redis, connection, &short_request, max_size, reply, format, arguments);
    memcpy(request->failure, short_request.failure, sizeof(request->failure));
    if (*outcome != OUTCOME_UNREACHABLE && *outcome != OUTCOME_TIMED_OUT)
        return true;
    pool_empty(&redis->pool);
    return short_request.stall_limit_ns == request->stall_limit_ns && *outcome == OUTCOME_TIMED_OUT;
}

static enum outcome ask_with_arguments(struct redis *redis, struct request *request, size_t max_size,
                                       redisReply **reply, const char *format, va_list arguments)
{
    struct redis_connection *connection = NULL;
    enum outcome outcome = OUTCOME_DONE;
    va_list again;
    va_copy(again, arguments);
    if (!ask_on_idle(redis, request, max_size, reply, &outcome, format, arguments)) {
        outcome = open_connection(redis, request, &connection);
        if (outcome == OUTCOME_DONE)
            outcome = ask_on(redis, connection, request, max_size, reply, format, again);
    }
    va_end(again);
    if (outcome != OUTCOME_DONE)
        return outcome;
    if ((*reply)->type != REDIS_REPLY_ERROR && (*reply)->type != REDIS_REPLY_NIL)
        return OUTCOME_DONE;
    outcome = (*reply)->type == REDIS_REPLY_NIL ? OUTCOME_MISSING : explain_error(request, *reply);
    freeReplyObject(*reply);
    *reply = NULL;
    return outcome;
}

/* Sends a command and receives its reply, which the caller frees. The format is that of redisCommand. An error reply
 * becomes a failed outcome, and nil OUTCOME_MISSING. */
static enum outcome ask(struct redis *redis, struct request *request, size_t max_size, redisReply **reply,
                        const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const enum outcome outcome = ask_with_arguments(redis, request, max_size, reply, format, arguments);
    va_end(arguments);
    return outcome;
}

/* Sends a command whose reply has this type. If it is a number, 0 becomes OUTCOME_MISSING. */
static enum outcome order(struct redis *redis, struct request *request, int type, const char *format, ...)
{
    redisReply *reply = NULL;
    va_list arguments;
    va_start(arguments, format);
    enum outcome outcome = ask_with_arguments(redis, request, 0, &reply, format, arguments);
    va_end(arguments);
    if (outcome == OUTCOME_DONE && reply->type != type)
        outcome = request_fail(request, OUTCOME_BAD_ANSWER, "the answer is not one of Redis to %.20s", format);
    else if (outcome == OUTCOME_DONE && type == REDIS_REPLY_INTEGER && reply->integer == 0)
        outcome = OUTCOME_MISSING;
    if (reply != NULL)
        freeReplyObject(reply);
    return outcome;
}

/* Writes the name that the object with this key, or its lease, has on the server. */
static const char *write_name(const struct redis *redis, const char *key, const char *suffix, char name[NAME_CAPACITY])
{
    (void)snprintf(name, NAME_CAPACITY, "ingot:1:%s:%s%s", redis->name_space, key, suffix);
    return name;
}

/* ---- objects ---- */

static void release_reply(ingot_buffer_t *object)
{
    freeReplyObject(object->owner);
}

static enum outcome redis_get_object(void *self, struct request *request, const char *key, size_t max_size,
                                     ingot_buffer_t *object)
{
    char name[NAME_CAPACITY];
    redisReply *reply = NULL;
    enum outcome outcome = ask(self, request, max_size, &reply, "GET %s", write_name(self, key, "", name));
    if (outcome != OUTCOME_DONE)
        return outcome;
    if (reply->type == REDIS_REPLY_STRING && reply->len <= max_size) {
        *object = (ingot_buffer_t){
            .size = reply->len, .bytes = (const uint8_t *)reply->str, .release = release_reply, .owner = reply};
        return OUTCOME_DONE;
    }
    if (reply->type == REDIS_REPLY_STRING)
        outcome = request_fail(request, OUTCOME_TOO_LARGE, "the answer has more than %zu bytes", max_size);
    else
        outcome = request_fail(request, OUTCOME_BAD_ANSWER, "the server answers GET with neither a value nor nil");
    freeReplyObject(reply);
    return outcome;
}

static enum outcome redis_put_object(void *self, struct request *request, const char *key, size_t size,
                                     const uint8_t *bytes)
{
    struct redis *redis = self;
    char name[NAME_CAPACITY];
    (void)write_name(redis, key, "", name);
    return redis->time_to_live[0] != '\0'
               ? order(redis, request, REDIS_REPLY_STATUS, "SET %s %b EX %s", name, bytes, size, redis->time_to_live)
               : order(redis, request, REDIS_REPLY_STATUS, "SET %s %b", name, bytes, size);
}

static enum outcome redis_remove_object(void *self, struct request *request, const char *key)
{
    char name[NAME_CAPACITY];
    return order(self, request, REDIS_REPLY_INTEGER, "DEL %s", write_name(self, key, "", name));
}

static enum outcome redis_has_object(void *self, struct request *request, const char *key)
{
    char name[NAME_CAPACITY];
    return order(self, request, REDIS_REPLY_INTEGER, "EXISTS %s", write_name(self, key, "", name));
}

static enum outcome redis_list_objects(void *self, struct request *request, char cursor[TRANSPORT_CURSOR_CAPACITY],
                                       void (*visit)(void *user, const char *key), void *user)
{
    char pattern[NAME_CAPACITY];
    redisReply *reply = NULL;
    const size_t size = strlen(write_name(self, "", "*", pattern)) - 1; /* of what is in front of a key */
    request->takes_list = true;
    enum outcome outcome =
        ask(self, request, LIST_SIZE, &reply, "SCAN %s MATCH %s COUNT 1000", cursor[0] != '\0' ? cursor : "0", pattern);
    if (outcome != OUTCOME_DONE)
        return outcome;
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2 || reply->element[0]->type != REDIS_REPLY_STRING ||
        reply->element[0]->len >= TRANSPORT_CURSOR_CAPACITY || reply->element[1]->type != REDIS_REPLY_ARRAY) {
        freeReplyObject(reply);
        return request_fail(request, OUTCOME_BAD_ANSWER, "the answer is not one of Redis to SCAN");
    }
    for (size_t i = 0; i < reply->element[1]->elements; ++i) {
        const redisReply *name = reply->element[1]->element[i];
        if (name->type == REDIS_REPLY_STRING && strncmp(name->str, pattern, size) == 0 &&
            strspn(name->str + size, "0123456789abcdef") == OBJECT_KEY_HEX_SIZE &&
            name->str[size + OBJECT_KEY_HEX_SIZE] == '\0') /* others are leases */
            visit(user, name->str + size);
    }
    const char *next = reply->element[0]->str;
    (void)snprintf(cursor, TRANSPORT_CURSOR_CAPACITY, "%s", strcmp(next, "0") != 0 ? next : "");
    freeReplyObject(reply);
    return outcome;
}

static enum outcome redis_probe_server(void *self, struct request *request)
{
    return order(self, request, REDIS_REPLY_STATUS, "PING");
}

/* ---- leases ---- */

static enum outcome redis_take_lease(void *self, struct request *request, const char *key, const char *token,
                                     uint64_t time_ms)
{
    char name[NAME_CAPACITY];
    return order(self, request, REDIS_REPLY_STATUS, "SET %s %s NX PX %llu", write_name(self, key, ":lease", name),
                 token, (unsigned long long)time_ms);
}

static enum outcome redis_read_lease(void *self, struct request *request, const char *key,
                                     char token[LEASE_TOKEN_CAPACITY])
{
    char name[NAME_CAPACITY];
    redisReply *reply = NULL;
    const enum outcome outcome =
        ask(self, request, LEASE_TOKEN_CAPACITY, &reply, "GET %s", write_name(self, key, ":lease", name));
    if (outcome != OUTCOME_DONE)
        return outcome;
    const bool is_lease =
        reply->type == REDIS_REPLY_STRING && (strcmp(reply->str, LEASE_POINTLESS) == 0 ||
                                              (reply->len == LEASE_TOKEN_CAPACITY - 1 &&
                                               strspn(reply->str, "0123456789abcdef") == LEASE_TOKEN_CAPACITY - 1));
    if (is_lease) /* not reply->len bytes: what a server sends may go on after a NUL */
        (void)snprintf(token, LEASE_TOKEN_CAPACITY, "%s", reply->str);
    freeReplyObject(reply);
    return is_lease ? OUTCOME_DONE
                    : request_fail(request, OUTCOME_BAD_ANSWER, "the value of a lease's key is none of a lease");
}

static enum outcome redis_extend_lease(void *self, struct request *request, const char *key, uint64_t time_ms)
{
    char name[NAME_CAPACITY];
    return order(self, request, REDIS_REPLY_INTEGER, "PEXPIRE %s %llu", write_name(self, key, ":lease", name),
                 (unsigned long long)time_ms);
}

static enum outcome redis_end_lease(void *self, struct request *request, const char *key, uint64_t pointless_ms)
{
    char name[NAME_CAPACITY];
    (void)write_name(self, key, ":lease", name);
    return pointless_ms == 0 ? order(self, request, REDIS_REPLY_INTEGER, "DEL %s", name)
                             : order(self, request, REDIS_REPLY_STATUS, "SET %s " LEASE_POINTLESS " PX %llu", name,
                                     (unsigned long long)pointless_ms);
}

/* ---- wishes ---- */

/* The score of a wish is the time at which it was left. */
static enum outcome redis_leave_wish(void *self, struct request *request, size_t size, const uint8_t *id)
{
    char name[NAME_CAPACITY];
    const unsigned long long now_s = nanoseconds_of(CLOCK_REALTIME) / NS_PER_SECOND;
    (void)write_name(self, "wanted", "", name);
    enum outcome outcome = order(self, request, REDIS_REPLY_INTEGER, "ZADD %s NX %llu %b", name, now_s, id, size);
    if (outcome != OUTCOME_DONE)
        return outcome;
    /* The wish is left now. The rest only limits all wishes, and the next one that is left makes up for a failure. */
    outcome = order(self, request, REDIS_REPLY_INTEGER, "EXPIRE %s %u", name, WISH_TIME_S);
    if (outcome == OUTCOME_DONE)
        (void)order(self, request, REDIS_REPLY_INTEGER, "ZREMRANGEBYRANK %s 0 -%u", name, MOST_WISHES + 1);
    return OUTCOME_DONE;
}

static enum outcome redis_take_wish(void *self, struct request *request, uint64_t wait_ms, ingot_buffer_t *id)
{
    char name[NAME_CAPACITY];
    redisReply *reply = NULL;
    request->takes_list = true;
    enum outcome outcome = ask(self, request, LIST_SIZE, &reply, "BZPOPMIN %s %llu",
                               write_name(self, "wanted", "", name), (unsigned long long)(wait_ms + 999) / 1000);
    if (outcome != OUTCOME_DONE)
        return outcome;
    if (reply->type == REDIS_REPLY_ARRAY && reply->elements == 3 && reply->element[1]->type == REDIS_REPLY_STRING)
        *id = (ingot_buffer_t){.size = reply->element[1]->len,
                               .bytes = (const uint8_t *)reply->element[1]->str,
                               .release = release_reply,
                               .owner = reply};
    else
        outcome = request_fail(request, OUTCOME_BAD_ANSWER, "the answer is not one of Redis to BZPOPMIN");
    if (outcome != OUTCOME_DONE)
        freeReplyObject(reply);
    return outcome;
}

/* ---- opening ---- */

static void destroy_redis(void *self)
{
    struct redis *redis = self;
    pool_fini(&redis->pool);
    free(redis);
}

ingot_status_t redis_open(struct transport *transport, const struct access *access, const char *name_space,
                          uint64_t time_to_live_s)
{
    static const struct transport_ops ops = {
        redis_get_object, redis_put_object,   redis_remove_object, redis_has_object, redis_probe_server,
        destroy_redis,    redis_list_objects, redis_take_lease,    redis_read_lease, redis_extend_lease,
        redis_end_lease,  redis_leave_wish,   redis_take_wish,
    };
    const struct url *url = &access->url;
    const bool is_unix = url->scheme == URL_REDIS_UNIX;
    if (is_unix && strlen(url->path) >= SOCKET_PATH_CAPACITY)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS,
                                      "the path of the Unix socket has %zu bytes, and the system allows %u",
                                      strlen(url->path), SOCKET_PATH_CAPACITY - 1);
    struct redis *redis = calloc(1, sizeof(*redis));
    if (redis == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a remote tier");
    pool_init(&redis->pool, close_handle);
    redis->access = access;
    redis->name_space = name_space;
    if (is_unix)
        (void)snprintf(redis->url, sizeof(redis->url), "http://localhost");
    else
        (void)snprintf(redis->url, sizeof(redis->url), "%s://%s:%s", url->scheme == URL_REDIS_TLS ? "https" : "http",
                       url->host, url->port[0] != '\0' ? url->port : DEFAULT_PORT);
    if (time_to_live_s != 0)
        (void)snprintf(redis->time_to_live, sizeof(redis->time_to_live), "%llu", (unsigned long long)time_to_live_s);
    *transport = (struct transport){&ops, redis};
    return INGOT_SUCCESS;
}
