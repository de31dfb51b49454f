/*
 * leases.c - takes, renews and ends leases on Redis and Valkey; see leases.h.
 *
 * Each operation is one script, because no other client may act between its comparison and its change. The script that
 * takes a lease also looks for the object. A holder stores the object before it ends its lease, so a client that gets
 * the lease knows that there is no object. A server that does not allow scripts refuses to give a lease in the first
 * place, so there is never a lease that cannot be ended.
 */
#include "remote/redis/leases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "remote/redis/commands.h"

#define SUFFIX ":lease"
#define NUMBER_CAPACITY 24u

/* The answer of this script is a value of enum lease_answer, but for LEASE_IS_BUSY a text: the rest of the lease's time
 * in milliseconds, negative if it never ends, or "?" if the client may not ask for it. */
static const char take_script[] = "if ARGV[3] == '0' and redis.call('EXISTS', KEYS[2]) == 1 then return 2 end "
                                  "if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 0 end "
                                  "if redis.call('GET', KEYS[1]) == '-' then return 3 end "
                                  "local left = redis.pcall('PTTL', KEYS[1]) "
                                  "return type(left) == 'number' and tostring(left) or '?'";
static const char renew_script[] = "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end "
                                   "return redis.call('PEXPIRE', KEYS[1], ARGV[2])";
static const char end_script[] = "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end "
                                 "if ARGV[2] == '0' then return redis.call('DEL', KEYS[1]) end "
                                 "redis.call('SET', KEYS[1], '-', 'PX', ARGV[2]) "
                                 "return 1";

/* Runs a script with the names of the lease and the object as its keys. */
static enum outcome run_script(void *self, struct request *request, const char *script, const char *key,
                               const char *token, uint64_t time_ms, const char *option, redisReply **reply)
{
    char object[REDIS_NAME_CAPACITY];
    char lease[REDIS_NAME_CAPACITY + sizeof(SUFFIX)];
    char time[NUMBER_CAPACITY];
    redis_write_name(self, key, object);
    (void)snprintf(lease, sizeof(lease), "%s" SUFFIX, object);
    (void)snprintf(time, sizeof(time), "%llu", (unsigned long long)time_ms);
    return redis_ask(self, request, reply, "EVAL %s 2 %s %s %s %s %s", script, lease, object, token, time, option);
}

/* Returns the number that a script answered, or -1 if it is not one of 0 to `most`. */
static int number_of(const redisReply *reply, int most)
{
    return reply->type == REDIS_REPLY_INTEGER && reply->integer >= 0 && reply->integer <= most ? (int)reply->integer
                                                                                               : -1;
}

static enum outcome refuse_answer(struct request *request)
{
    return request_fail(request, OUTCOME_BAD_ANSWER, "the server answers a script with an unknown value");
}

/* Runs a script that answers whether the token has the lease. Returns OUTCOME_MISSING if it does not. */
static enum outcome run_with_time(void *self, struct request *request, const char *script, const char *key,
                                  const char *token, uint64_t time_ms)
{
    redisReply *reply = NULL;
    const enum outcome outcome = run_script(self, request, script, key, token, time_ms, "", &reply);
    if (outcome != OUTCOME_DONE)
        return outcome;
    const int number = number_of(reply, 1);
    freeReplyObject(reply);
    return number < 0 ? refuse_answer(request) : number == 0 ? OUTCOME_MISSING : OUTCOME_DONE;
}

/* Reads the text with which a script says that a lease is taken. Returns false if it is not such a text. */
static bool read_left(const redisReply *reply, uint64_t *left_ms)
{
    char *end = NULL;
    if (reply->type != REDIS_REPLY_STRING || reply->len == 0 || reply->len >= NUMBER_CAPACITY)
        return false;
    if (strcmp(reply->str, "?") == 0) {
        *left_ms = LEASE_TIME_UNKNOWN;
        return true;
    }
    const long long left = strtoll(reply->str, &end, 10);
    *left_ms = left < 0 ? LEASE_TIME_NO_END : (uint64_t)left;
    return end == reply->str + reply->len;
}

static enum outcome redis_take_lease(void *self, struct request *request, const char *key, const char *token,
                                     uint64_t time_ms, bool is_object_useless, enum lease_answer *answer,
                                     uint64_t *left_ms)
{
    redisReply *reply = NULL;
    const enum outcome outcome =
        run_script(self, request, take_script, key, token, time_ms, is_object_useless ? "1" : "0", &reply);
    if (outcome != OUTCOME_DONE)
        return outcome;
    const int number = number_of(reply, LEASE_IS_POINTLESS);
    const bool is_busy = read_left(reply, left_ms);
    freeReplyObject(reply);
    if (number != LEASE_IS_TAKEN && number != LEASE_IS_STORED && number != LEASE_IS_POINTLESS && !is_busy)
        return refuse_answer(request);
    *answer = is_busy ? LEASE_IS_BUSY : (enum lease_answer)number;
    return OUTCOME_DONE;
}

static enum outcome redis_renew_lease(void *self, struct request *request, const char *key, const char *token,
                                      uint64_t time_ms)
{
    return run_with_time(self, request, renew_script, key, token, time_ms);
}

static enum outcome redis_end_lease(void *self, struct request *request, const char *key, const char *token,
                                    uint64_t pointless_ms)
{
    return run_with_time(self, request, end_script, key, token, pointless_ms);
}

const struct lease_transport_ops redis_leases = {redis_take_lease, redis_renew_lease, redis_end_lease};
