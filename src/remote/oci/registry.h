/*
 * registry.h - makes requests to an OCI registry (distribution v2): authentication, redirects, uploads.
 *
 * Credentials go only to the registry itself, and to the token server that it names. Everything else that a registry
 * names, such as the place of a blob, gets none.
 */
#ifndef INGOT_REMOTE_OCI_REGISTRY_H
#define INGOT_REMOTE_OCI_REGISTRY_H

#include <ingot/ingot.h>
#include <stdbool.h>

#include "remote/base/request.h"
#include "remote/http/exchange.h"
#include "remote/settings/url.h"

#define REGISTRY_DIGEST_CAPACITY 72u /* "sha256:", 64 digits and a NUL */
#define REGISTRY_HEADER_CAPACITY 8192u

/* A repository of a registry, and a reference in it. Any number of threads may use it at once. */
struct registry {
    struct http_pool pool;
    struct access access;  /* certificates for the registry */
    struct access foreign; /* for other hosts */
    char origin[512];      /* SCHEME://HOST[:PORT] */
    char name[512];
    char reference[256]; /* a tag, or a digest */
    bool is_plain;
    unsigned most_waits;          /* how often a request may wait because the registry asks for that */
    char secret[SECRET_CAPACITY]; /* USER:PASSWORD; "": none */
    pthread_mutex_t lock;
    char authorization[REGISTRY_HEADER_CAPACITY]; /* a header, or ""; `lock` guards it */
};

/* @retval INGOT_INVALID_ARGUMENTS, INGOT_UNTRUSTED, INGOT_NOT_FOUND, INGOT_IO_ERROR, INGOT_OUT_OF_MEMORY */
ingot_status_t registry_init(struct registry *registry, const struct url *url);
void registry_fini(struct registry *registry);

struct registry_body {
    size_t size;
    uint8_t *bytes; /* the caller frees them */
};

/* Reads the manifest that the reference names. */
enum outcome registry_get_manifest(struct registry *registry, struct request *request, size_t max_size,
                                   struct registry_body *body);
/* Reads `size` bytes of a blob at an offset; with is_whole, the whole blob, whose digest is checked. */
enum outcome registry_get_blob(struct registry *registry, struct request *request, const char *digest, bool is_whole,
                               uint64_t offset, size_t size, struct registry_body *body);
/* Stores a blob unless the registry has it. Writes its digest. Sets *is_sent if the blob was sent. */
enum outcome registry_put_blob(struct registry *registry, struct request *request, size_t size, const uint8_t *bytes,
                               char digest[REGISTRY_DIGEST_CAPACITY], bool *is_sent);
/* Stores a manifest under the reference. */
enum outcome registry_put_manifest(struct registry *registry, struct request *request, size_t size, const void *bytes);

/* Writes the digest of some bytes. */
void registry_digest(size_t size, const void *bytes, char digest[REGISTRY_DIGEST_CAPACITY]);

#endif
