/*
 * leases.c - takes, extends and ends leases on Redis and Valkey with plain commands; see leases.h.
 */
#include "remote/redis/leases.h"

#include <string.h>

#include "remote/redis/commands.h"

#define SUFFIX ":lease"
#define NAME_CAPACITY (REDIS_NAME_CAPACITY + sizeof(SUFFIX))

static void write_lease_name(const struct redis *redis, const char *key, char name[NAME_CAPACITY])
{
    redis_write_name(redis, key, name);
    memcpy(name + strlen(name), SUFFIX, sizeof(SUFFIX));
}

static enum outcome redis_take_lease(void *self, struct request *request, const char *key, const char *token,
                                     uint64_t time_ms)
{
    char name[NAME_CAPACITY];
    redisReply *reply = NULL;
    write_lease_name(self, key, name);
    const enum outcome outcome =
        redis_ask(self, request, 0, &reply, "SET %s %s NX PX %llu", name, token, (unsigned long long)time_ms);
    if (outcome == OUTCOME_DONE)
        freeReplyObject(reply);
    return outcome;
}

static enum outcome redis_read_lease(void *self, struct request *request, const char *key,
                                     char token[LEASE_TOKEN_CAPACITY])
{
    char name[NAME_CAPACITY];
    redisReply *reply = NULL;
    write_lease_name(self, key, name);
    const enum outcome outcome = redis_ask(self, request, LEASE_TOKEN_CAPACITY, &reply, "GET %s", name);
    if (outcome != OUTCOME_DONE)
        return outcome;
    const bool is_lease =
        reply->type == REDIS_REPLY_STRING && (strcmp(reply->str, LEASE_POINTLESS) == 0 ||
                                              (reply->len == LEASE_TOKEN_CAPACITY - 1 &&
                                               strspn(reply->str, "0123456789abcdef") == LEASE_TOKEN_CAPACITY - 1));
    if (is_lease)
        memcpy(token, reply->str, reply->len + 1);
    freeReplyObject(reply);
    return is_lease ? OUTCOME_DONE
                    : request_fail(request, OUTCOME_BAD_ANSWER, "the value of a lease's key is none of a lease");
}

static enum outcome redis_extend_lease(void *self, struct request *request, const char *key, uint64_t time_ms)
{
    char name[NAME_CAPACITY];
    write_lease_name(self, key, name);
    return redis_count(self, request, "PEXPIRE %s %llu", name, (unsigned long long)time_ms);
}

static enum outcome redis_end_lease(void *self, struct request *request, const char *key, uint64_t pointless_ms)
{
    char name[NAME_CAPACITY];
    redisReply *reply = NULL;
    write_lease_name(self, key, name);
    if (pointless_ms == 0)
        return redis_count(self, request, "DEL %s", name);
    const enum outcome outcome = redis_ask(self, request, 0, &reply, "SET %s " LEASE_POINTLESS " PX %llu", name,
                                           (unsigned long long)pointless_ms);
    if (outcome == OUTCOME_DONE)
        freeReplyObject(reply);
    return outcome;
}

const struct lease_transport_ops redis_leases = {redis_take_lease, redis_read_lease, redis_extend_lease,
                                                 redis_end_lease};
