/*
 * registry.c - makes requests to an OCI registry; see registry.h.
 *
 * A request that the registry rejects with a challenge is repeated once, with what the challenge asks for. A redirect
 * is followed at most five times, and never from https to http. All other loops are bounded by the request's deadline.
 * Locks: one mutex for the header with the authorization, held for a copy.
 */
#include "remote/oci/registry.h"

#include <cjson/cJSON.h>
#include <ingot/backend.h>
#include <poll.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "remote/base/clock.h"
#include "remote/oci/credentials.h"

#define MOST_REDIRECTS 5u
#define MOST_TOKEN_BYTES (64u * 1024u)
#define LONGEST_WAIT_S 10u
#define ADDRESS_CAPACITY 4096u
#define MANIFEST_TYPE "application/vnd.oci.image.manifest.v1+json"

/* One request and its answer. */
struct call {
    char address[ADDRESS_CAPACITY];
    struct exchange exchange; /* the caller frees the body of one that is OUTCOME_DONE */
    struct exchange_detail detail;
};

void registry_digest(size_t size, const void *bytes, char digest[REGISTRY_DIGEST_CAPACITY])
{
    unsigned char hash[crypto_hash_sha256_BYTES];
    (void)crypto_hash_sha256(hash, bytes, size);
    memcpy(digest, "sha256:", 7);
    (void)sodium_bin2hex(digest + 7, REGISTRY_DIGEST_CAPACITY - 7, hash, sizeof(hash));
}

/* ---- where credentials go ---- */

static bool is_address_of_registry(const struct registry *registry, const char *address)
{
    const size_t length = strlen(registry->origin);
    return strncmp(address, registry->origin, length) == 0 && address[length] == '/';
}

/* True if the address may be asked: an encrypted one, or one on the loopback interface if the user allows that. */
static bool is_allowed(const struct registry *registry, const char *address)
{
    static const char *const loopback[] = {"http://127.0.0.1", "http://localhost", "http://[::1]"};
    bool is_near = false;
    for (size_t i = 0; i < sizeof(loopback) / sizeof(loopback[0]); ++i) {
        const size_t length = strlen(loopback[i]);
        is_near = is_near || (strncmp(address, loopback[i], length) == 0 &&
                              (address[length] == ':' || address[length] == '/' || address[length] == '\0'));
    }
    return strncmp(address, "https://", 8) == 0 || (registry->is_plain && is_near);
}

/* ---- one exchange ---- */

static enum outcome perform_call(struct registry *registry, struct request *request, struct call *call,
                                 const char *authorization)
{
    struct exchange *exchange = &call->exchange;
    exchange->base = call->address;
    exchange->path = "";
    exchange->access = is_address_of_registry(registry, call->address) ? &registry->access : &registry->foreign;
    exchange->body = (struct answer_body){.max_size = exchange->body.max_size};
    exchange->request = request;
    exchange->detail = &call->detail;
    call->detail.headers[1] = authorization[0] != '\0' ? authorization : NULL;
    exchange_perform(&registry->pool, 1, exchange);
    return exchange->outcome;
}

/* ---- authentication ---- */

static void keep_authorization(struct registry *registry, const char *header)
{
    (void)pthread_mutex_lock(&registry->lock);
    (void)snprintf(registry->authorization, sizeof(registry->authorization), "%s", header);
    (void)pthread_mutex_unlock(&registry->lock);
}

static enum outcome make_basic(const struct registry *registry, struct request *request,
                               char header[REGISTRY_HEADER_CAPACITY])
{
    static const char name[] = "Authorization: Basic ";
    if (registry->secret[0] == '\0')
        return request_fail(request, OUTCOME_REFUSED, "the registry wants credentials for %.100s", registry->name);
    memcpy(header, name, sizeof(name));
    (void)sodium_bin2base64(header + sizeof(name) - 1, REGISTRY_HEADER_CAPACITY - sizeof(name) + 1,
                            (const unsigned char *)registry->secret, strlen(registry->secret),
                            sodium_base64_VARIANT_ORIGINAL);
    return OUTCOME_DONE;
}

/* Copies a parameter of a challenge, NAME="VALUE". Returns false if it is missing or too long. */
static bool take_parameter(const char *challenge, const char *name, size_t capacity, char *value)
{
    char start[32];
    (void)snprintf(start, sizeof(start), "%s=\"", name);
    const char *at = strcasestr(challenge, start);
    const size_t size = at != NULL ? strcspn(at + strlen(start), "\"") : capacity;
    if (size >= capacity)
        return false;
    memcpy(value, at + strlen(start), size);
    value[size] = '\0';
    return true;
}

/* Appends a parameter of the challenge to the address of the token server. */
static bool append_parameter(char address[ADDRESS_CAPACITY], const char *challenge, const char *name)
{
    char value[512];
    if (!take_parameter(challenge, name, sizeof(value), value))
        return true; /* it is optional */
    char *escaped = curl_easy_escape(NULL, value, 0);
    const size_t length = strlen(address);
    const int more = escaped != NULL ? snprintf(address + length, ADDRESS_CAPACITY - length, "%c%s=%s",
                                                strchr(address, '?') != NULL ? '&' : '?', name, escaped)
                                     : -1;
    curl_free(escaped);
    return more > 0 && (size_t)more < ADDRESS_CAPACITY - length;
}

static enum outcome take_token(struct request *request, const struct answer_body *body,
                               char header[REGISTRY_HEADER_CAPACITY])
{
    cJSON *json = cJSON_ParseWithLength((const char *)body->bytes, body->size);
    const char *token = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "token"));
    if (token == NULL)
        token = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "access_token"));
    const bool is_valid =
        token != NULL && token[0] != '\0' && strpbrk(token, " \t\r\n") == NULL &&
        snprintf(header, REGISTRY_HEADER_CAPACITY, "Authorization: Bearer %s", token) < (int)REGISTRY_HEADER_CAPACITY;
    cJSON_Delete(json);
    return is_valid ? OUTCOME_DONE
                    : request_fail(request, OUTCOME_BAD_ANSWER, "the token server's answer has no usable token");
}

static enum outcome ask_for_token(struct registry *registry, struct request *request, const char *challenge,
                                  char header[REGISTRY_HEADER_CAPACITY])
{
    struct call call = {.exchange = {.method = HTTP_GET, .body = {.max_size = MOST_TOKEN_BYTES}}};
    if (!take_parameter(challenge, "realm", 1024, call.address) || !is_allowed(registry, call.address) ||
        !append_parameter(call.address, challenge, "service") || !append_parameter(call.address, challenge, "scope"))
        return request_fail(request, OUTCOME_BAD_ANSWER, "the registry names no usable token server");
    if (registry->secret[0] != '\0')
        (void)make_basic(registry, request, header);
    enum outcome outcome = perform_call(registry, request, &call, header);
    if (outcome == OUTCOME_DONE && call.detail.status != 200)
        outcome = request_fail(request, OUTCOME_REFUSED, "the token server rejects the credentials: HTTP status %ld",
                               call.detail.status);
    if (outcome == OUTCOME_DONE)
        outcome = take_token(request, &call.exchange.body, header);
    free(call.exchange.body.bytes);
    return outcome;
}

static enum outcome answer_challenge(struct registry *registry, struct request *request, const char *challenge)
{
    char *header = calloc(1, REGISTRY_HEADER_CAPACITY); /* large for a thread's stack */
    enum outcome outcome = OUTCOME_REFUSED;
    if (header == NULL)
        return request_fail(request, OUTCOME_NO_MEMORY, "no memory for credentials");
    if (strncasecmp(challenge, "Basic", 5) == 0)
        outcome = make_basic(registry, request, header);
    else if (strncasecmp(challenge, "Bearer ", 7) == 0)
        outcome = ask_for_token(registry, request, challenge + 7, header);
    else
        (void)request_fail(request, outcome, "the registry asks for an authentication that Ingot does not know");
    if (outcome == OUTCOME_DONE)
        keep_authorization(registry, header);
    sodium_memzero(header, REGISTRY_HEADER_CAPACITY);
    free(header);
    return outcome;
}

/* ---- requests ---- */

/* Waits because the registry asks for that. Returns false if it may not wait so long. */
static bool wait_as_asked(const struct request *request, const char *retry_after)
{
    const unsigned long seconds = retry_after[0] != '\0' ? strtoul(retry_after, NULL, 10) : 1;
    const uint64_t until_ns = clock_now_ns() + seconds * UINT64_C(1000000000);
    if (seconds > LONGEST_WAIT_S || until_ns > request->deadline_ns)
        return false;
    while (clock_now_ns() < until_ns && !request_is_ended(request))
        (void)poll(NULL, 0, 50);
    return true;
}

static enum outcome judge_call(struct request *request, const struct call *call)
{
    const long status = call->detail.status;
    if (status >= 200 && status <= 299)
        return OUTCOME_DONE;
    if (status == 404 && call->exchange.method != HTTP_PUT)
        return OUTCOME_MISSING;
    if (status == 401 || status == 403)
        return request_fail(request, OUTCOME_REFUSED, "the registry rejects the credentials: HTTP status %ld", status);
    if (status == 429)
        return request_fail(request, OUTCOME_BAD_ANSWER, "the registry refuses so many requests (HTTP status 429%s%s)",
                            call->detail.retry_after[0] != '\0' ? "; it asks to wait for this many seconds: " : "",
                            call->detail.retry_after);
    return request_fail(request, OUTCOME_BAD_ANSWER, "the registry answers with HTTP status %ld", status);
}

/* Performs a call, with the authorization if the call goes to the registry itself. */
static enum outcome perform_authorized(struct registry *registry, struct request *request, struct call *call)
{
    (void)pthread_mutex_lock(&registry->lock);
    char *authorization = strdup(is_address_of_registry(registry, call->address) ? registry->authorization : "");
    (void)pthread_mutex_unlock(&registry->lock);
    if (authorization == NULL)
        return request_fail(request, OUTCOME_NO_MEMORY, "no memory for credentials");
    const enum outcome outcome = perform_call(registry, request, call, authorization);
    sodium_memzero(authorization, strlen(authorization));
    free(authorization);
    return outcome;
}

/* Sends a call, and repeats it after a challenge, a redirect, or a wait. */
static enum outcome send_call(struct registry *registry, struct request *request, struct call *call)
{
    bool has_authenticated = false;
    unsigned redirects = 0;
    unsigned waits = 0;
    for (;;) {
        enum outcome outcome = perform_authorized(registry, request, call);
        const long status = call->detail.status;
        if (outcome != OUTCOME_DONE)
            return outcome;
        if (status == 401 && is_address_of_registry(registry, call->address) && !has_authenticated) {
            has_authenticated = true;
            outcome = answer_challenge(registry, request, call->detail.challenge);
        } else if (status >= 301 && status <= 308 && status != 304 && call->exchange.method == HTTP_GET) {
            if (++redirects > MOST_REDIRECTS || !is_allowed(registry, call->detail.location))
                outcome = request_fail(request, OUTCOME_BAD_ANSWER,
                                       "the registry redirects too often, or to an "
                                       "address that is not encrypted");
            (void)snprintf(call->address, sizeof(call->address), "%s", call->detail.location);
        } else if (status == 429 && waits++ < registry->most_waits) {
            if (!wait_as_asked(request, call->detail.retry_after))
                outcome = judge_call(request, call);
        } else {
            outcome = judge_call(request, call);
            if (outcome == OUTCOME_DONE)
                return outcome;
        }
        free(call->exchange.body.bytes);
        call->exchange.body.bytes = NULL;
        if (outcome != OUTCOME_DONE)
            return outcome;
    }
}

static void set_address(const struct registry *registry, struct call *call, const char *kind, const char *which)
{
    (void)snprintf(call->address, sizeof(call->address), "%s/v2/%s/%s/%s", registry->origin, registry->name, kind,
                   which);
}

enum outcome registry_get_manifest(struct registry *registry, struct request *request, size_t max_size,
                                   struct registry_body *body)
{
    struct call call = {.exchange = {.method = HTTP_GET, .body = {.max_size = max_size}},
                        .detail = {.headers = {"Accept: " MANIFEST_TYPE}}};
    char digest[REGISTRY_DIGEST_CAPACITY];
    set_address(registry, &call, "manifests", registry->reference);
    const enum outcome outcome = send_call(registry, request, &call);
    if (outcome != OUTCOME_DONE)
        return outcome;
    registry_digest(call.exchange.body.size, call.exchange.body.bytes, digest);
    if (strchr(registry->reference, ':') != NULL && strcmp(registry->reference, digest) != 0) {
        free(call.exchange.body.bytes);
        return request_fail(request, OUTCOME_BAD_ANSWER, "the manifest does not have its digest");
    }
    *body = (struct registry_body){call.exchange.body.size, call.exchange.body.bytes};
    return outcome;
}

enum outcome registry_get_blob(struct registry *registry, struct request *request, const char *digest, bool is_whole,
                               uint64_t offset, size_t size, struct registry_body *body)
{
    struct call call = {.exchange = {.method = HTTP_GET, .body = {.max_size = size}}};
    char range[80];
    char found[REGISTRY_DIGEST_CAPACITY] = "";
    (void)snprintf(range, sizeof(range), "Range: bytes=%llu-%llu", (unsigned long long)offset,
                   (unsigned long long)(offset + size - 1));
    call.detail.headers[0] = is_whole ? NULL : range;
    set_address(registry, &call, "blobs", digest);
    enum outcome outcome = send_call(registry, request, &call);
    if (outcome != OUTCOME_DONE)
        return outcome;
    if (is_whole)
        registry_digest(call.exchange.body.size, call.exchange.body.bytes, found);
    if (call.exchange.body.size != size)
        outcome = request_fail(request, OUTCOME_BAD_ANSWER, "a blob has %zu bytes instead of %zu",
                               call.exchange.body.size, size);
    else if (!is_whole && call.detail.status != 206)
        outcome = request_fail(request, OUTCOME_BAD_ANSWER, "the registry does not send parts of blobs");
    else if (is_whole && strcmp(found, digest) != 0)
        outcome = request_fail(request, OUTCOME_BAD_ANSWER, "a blob does not have its digest %.20s...", digest);
    if (outcome == OUTCOME_DONE)
        *body = (struct registry_body){call.exchange.body.size, call.exchange.body.bytes};
    else
        free(call.exchange.body.bytes);
    return outcome;
}

static enum outcome registry_has_blob(struct registry *registry, struct request *request, const char *digest)
{
    struct call call = {.exchange = {.method = HTTP_HEAD}};
    set_address(registry, &call, "blobs", digest);
    return send_call(registry, request, &call);
}

/* Makes the address to which a blob is sent, from that of the upload. */
static bool finish_address(const struct registry *registry, struct call *call, const char *location, const char *digest)
{
    const int length =
        snprintf(call->address, sizeof(call->address), "%s%s%cdigest=%s", location[0] == '/' ? registry->origin : "",
                 location, strchr(location, '?') != NULL ? '&' : '?', digest);
    return location[0] != '\0' && length > 0 && (size_t)length < sizeof(call->address) &&
           is_allowed(registry, call->address);
}

enum outcome registry_put_blob(struct registry *registry, struct request *request, size_t size, const uint8_t *bytes,
                               char digest[REGISTRY_DIGEST_CAPACITY], bool *is_sent)
{
    struct call call = {.exchange = {.method = HTTP_POST}};
    registry_digest(size, bytes, digest);
    *is_sent = false;
    enum outcome outcome = registry_has_blob(registry, request, digest);
    if (outcome != OUTCOME_MISSING)
        return outcome;
    set_address(registry, &call, "blobs", "uploads/");
    outcome = send_call(registry, request, &call);
    free(call.exchange.body.bytes);
    if (outcome != OUTCOME_DONE)
        return outcome;
    if (!finish_address(registry, &call, call.detail.location, digest))
        return request_fail(request, OUTCOME_BAD_ANSWER, "the registry names no usable place for an upload");
    call.exchange = (struct exchange){.method = HTTP_PUT, .sent_size = size, .sent = bytes};
    call.detail.headers[0] = "Content-Type: application/octet-stream";
    outcome = send_call(registry, request, &call);
    free(call.exchange.body.bytes);
    *is_sent = outcome == OUTCOME_DONE;
    return outcome;
}

enum outcome registry_put_manifest(struct registry *registry, struct request *request, size_t size, const void *bytes)
{
    struct call call = {.exchange = {.method = HTTP_PUT, .sent_size = size, .sent = bytes},
                        .detail = {.headers = {"Content-Type: " MANIFEST_TYPE}}};
    set_address(registry, &call, "manifests", registry->reference);
    const enum outcome outcome = send_call(registry, request, &call);
    free(call.exchange.body.bytes);
    return outcome;
}

/* ---- opening ---- */

/* Splits NAME[:TAG] or NAME@DIGEST. */
static ingot_status_t take_path(struct registry *registry, const char *path)
{
    static const char known[] = "abcdefghijklmnopqrstuvwxyz0123456789._-/";
    const char *slash = strrchr(path, '/');
    const char *end = strchr(path, '@');
    if (end == NULL)
        end = strchr(slash != NULL ? slash : path, ':');
    const char *reference = end != NULL ? end + 1 : "latest";
    const size_t length = end != NULL ? (size_t)(end - path) : strlen(path);
    const size_t reference_length = strlen(reference);
    if (length == 0 || length >= sizeof(registry->name) || strspn(path, known) < length || reference_length == 0 ||
        reference_length > 128 || strpbrk(reference, "/?#@") != NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS,
                                      "\"%.80s\" is not NAME:TAG or NAME@DIGEST of an image in a registry", path);
    memcpy(registry->name, path, length);
    memcpy(registry->reference, reference, reference_length + 1);
    return INGOT_SUCCESS;
}

ingot_status_t registry_init(struct registry *registry, const struct url *url)
{
    struct url bare = *url;
    char host[300];
    memset(registry, 0, sizeof(*registry));
    registry->is_plain = url->is_plain;
    bare.auth = URL_AUTH_NONE; /* this file makes the headers itself */
    bare.credentials = "";
    (void)snprintf(host, sizeof(host), "%s%s%s", url->host, url->port[0] != '\0' ? ":" : "", url->port);
    (void)snprintf(registry->origin, sizeof(registry->origin), "%s://%s", url->is_plain ? "http" : "https", host);
    ingot_status_t status = take_path(registry, url->path);
    if (status == INGOT_SUCCESS)
        status = access_init(&registry->access, &bare);
    bare.certificate = bare.key = "";
    if (status == INGOT_SUCCESS)
        status = access_init(&registry->foreign, &bare);
    if (status == INGOT_SUCCESS)
        status = credentials_find(url, host, registry->secret);
    if (status == INGOT_SUCCESS)
        status = http_pool_init(&registry->pool);
    pthread_mutex_init(&registry->lock, NULL);
    if (status != INGOT_SUCCESS)
        secret_wipe(registry->secret);
    return status;
}

void registry_fini(struct registry *registry)
{
    http_pool_fini(&registry->pool);
    (void)pthread_mutex_destroy(&registry->lock);
    secret_wipe(registry->secret);
    sodium_memzero(registry->authorization, sizeof(registry->authorization));
}
