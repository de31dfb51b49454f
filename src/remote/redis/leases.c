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
#include <string.h>

#include "remote/redis/commands.h"

#define SUFFIX ":lease"
#define NUMBER_CAPACITY 24u

/* The answer of this script is a value of enum lease_answer. */
static const char take_script[] = "if ARGV[3] == '0' and redis.call('EXISTS', KEYS[2]) == 1 then return 2 end "
                                  "if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 0 end "
                                  "if redis.call('GET', KEYS[1]) == '-' then return 3 end "
                                  "return 1";
static const char renew_script[] = "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end "
                                   "return redis.call('PEXPIRE', KEYS[1], ARGV[2])";
static const char end_script[] = "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end "
                                 "if ARGV[2] == '0' then return redis.call('DEL', KEYS[1]) end "
                                 "redis.call('SET', KEYS[1], '-', 'PX', ARGV[2]) "
                                 "return 1";

/* Runs a script with the names of the lease and the object as its keys. Its answer is a number of at most `most`. */
static enum outcome run_script(void *self, struct request *request, const char *script, const char *key, int count,
                               const char **arguments, long long most, long long *answer)
{
    char object[REDIS_NAME_CAPACITY];
    char lease[REDIS_NAME_CAPACITY + sizeof(SUFFIX)];
    const char *words[8] = {"EVAL", script, "2", lease, object};
    size_t sizes[8];
    redisReply *reply = NULL;
    (void)redis_write_name(self, key, object);
    (void)snprintf(lease, sizeof(lease), "%s" SUFFIX, object);
    for (int i = 0; i < count; ++i)
        words[5 + i] = arguments[i];
    for (int i = 0; i < 5 + count; ++i)
        sizes[i] = strlen(words[i]);
    const struct redis_command command = {.count = 5 + count, .words = words, .sizes = sizes};
    const enum outcome outcome = redis_ask(self, request, &command, &reply);
    if (outcome != OUTCOME_DONE)
        return outcome;
    const bool is_known = reply->type == REDIS_REPLY_INTEGER && reply->integer >= 0 && reply->integer <= most;
    *answer = is_known ? reply->integer : 0;
    freeReplyObject(reply);
    return is_known ? OUTCOME_DONE
                    : request_fail(request, OUTCOME_BAD_ANSWER, "the server answers a script with an unknown value");
}

/* Runs a script that answers whether the token has the lease. Returns OUTCOME_MISSING if it does not. */
static enum outcome run_with_time(void *self, struct request *request, const char *script, const char *key,
                                  const char *token, uint64_t time_ms)
{
    char time[NUMBER_CAPACITY];
    const char *arguments[] = {token, time};
    long long answer = 0;
    (void)snprintf(time, sizeof(time), "%llu", (unsigned long long)time_ms);
    const enum outcome outcome = run_script(self, request, script, key, 2, arguments, 1, &answer);
    return outcome == OUTCOME_DONE && answer == 0 ? OUTCOME_MISSING : outcome;
}

static enum outcome take(void *self, struct request *request, const char *key, const char *token, uint64_t time_ms,
                         bool is_object_useless, enum lease_answer *answer)
{
    char time[NUMBER_CAPACITY];
    const char *arguments[] = {token, time, is_object_useless ? "1" : "0"};
    long long number = 0;
    (void)snprintf(time, sizeof(time), "%llu", (unsigned long long)time_ms);
    const enum outcome outcome = run_script(self, request, take_script, key, 3, arguments, LEASE_IS_POINTLESS, &number);
    if (outcome == OUTCOME_DONE)
        *answer = (enum lease_answer)number;
    return outcome;
}

static enum outcome renew(void *self, struct request *request, const char *key, const char *token, uint64_t time_ms)
{
    return run_with_time(self, request, renew_script, key, token, time_ms);
}

static enum outcome end(void *self, struct request *request, const char *key, const char *token, uint64_t pointless_ms)
{
    return run_with_time(self, request, end_script, key, token, pointless_ms);
}

const struct lease_transport_ops redis_leases = {take, renew, end};
