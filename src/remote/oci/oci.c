/*
 * oci.c - reads single objects of an image; see oci.h.
 *
 * The first request reads the manifest and the index, which the transport then keeps: a process uses one version of an
 * image, also if the tag moves on meanwhile. An object is read by a range request.
 * Locks: one mutex for the image, which is published once. It is not held while the network is in use, so threads that
 * come first at the same time may each read the index.
 */
#include "remote/oci/oci.h"

#include <ingot/backend.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "remote/base/clock.h"
#include "remote/oci/image.h"

struct oci {
    struct registry registry;
    pthread_mutex_t lock;
    bool has_image; /* `lock` guards this, and `image` until it is set */
    struct image image;
};

/* Reads the index unless it has been read. The image does not change afterwards. */
static enum outcome need_image(struct oci *oci, struct request *request)
{
    struct image image;
    (void)pthread_mutex_lock(&oci->lock);
    const bool has_image = oci->has_image;
    (void)pthread_mutex_unlock(&oci->lock);
    if (has_image)
        return OUTCOME_DONE;
    enum outcome outcome = image_load_manifest(&image, &oci->registry, request);
    if (outcome == OUTCOME_MISSING)
        return request_fail(request, OUTCOME_BAD_ANSWER, "the registry has no image %.100s with the reference %.100s",
                            oci->registry.name, oci->registry.reference);
    if (outcome == OUTCOME_DONE)
        outcome = image_load_index(&image, &oci->registry, request);
    if (outcome != OUTCOME_DONE)
        return outcome;
    (void)pthread_mutex_lock(&oci->lock);
    if (!oci->has_image) {
        oci->image = image;
        oci->has_image = true;
        image = (struct image){.layers = NULL};
    }
    (void)pthread_mutex_unlock(&oci->lock);
    image_fini(&image);
    return outcome;
}

static enum outcome find_image_entry(struct oci *oci, struct request *request, const char *key,
                                     const struct image_entry **entry)
{
    uint8_t bytes[IMAGE_KEY_SIZE];
    const enum outcome outcome = need_image(oci, request);
    if (outcome != OUTCOME_DONE)
        return outcome;
    if (sodium_hex2bin(bytes, sizeof(bytes), key, strlen(key), NULL, NULL, NULL) != 0)
        return OUTCOME_MISSING;
    *entry = image_find(&oci->image, bytes);
    return *entry != NULL ? OUTCOME_DONE : OUTCOME_MISSING;
}

/* Reads one object. */
static enum outcome read_object(struct oci *oci, struct fetch *fetch)
{
    struct request *request = &fetch->request;
    const struct image_entry *entry = NULL;
    struct registry_body body = {0, NULL};
    uint8_t digest[IMAGE_KEY_SIZE];
    enum outcome outcome = find_image_entry(oci, request, fetch->key, &entry);
    if (outcome != OUTCOME_DONE)
        return outcome;
    if (entry->size > fetch->max_size)
        return request_fail(request, OUTCOME_TOO_LARGE, "the object has more than %zu bytes", fetch->max_size);
    outcome = registry_get_blob(&oci->registry, request, oci->image.layers[entry->layer].digest, false, entry->offset,
                                (size_t)entry->size, &body);
    if (outcome == OUTCOME_MISSING)
        return request_fail(request, OUTCOME_BAD_ANSWER, "the registry lacks a layer of the image");
    if (outcome != OUTCOME_DONE)
        return outcome;
    image_digest(body.size, body.bytes, digest);
    if (memcmp(digest, entry->digest, sizeof(digest)) != 0) {
        free(body.bytes);
        return request_fail(request, OUTCOME_BAD_ANSWER, "an object does not have the digest that the index says");
    }
    fetch->object = answer_object(body.size, body.bytes);
    return outcome;
}

static size_t oci_get_objects(void *self, size_t count, struct fetch *fetches)
{
    (void)count; /* 1 */
    fetches->outcome = read_object(self, fetches);
    fetches->ended_ns = clock_now_ns();
    return 1;
}

static enum outcome oci_put_object(void *self, struct request *request, const char *key, size_t size,
                                   const uint8_t *bytes)
{
    (void)self;
    (void)key;
    (void)size;
    (void)bytes;
    return request_fail(request, OUTCOME_REFUSED, "an image in a registry is read-only; ingot push makes it anew");
}

static enum outcome oci_remove_object(void *self, struct request *request, const char *key)
{
    return oci_put_object(self, request, key, 0, NULL);
}

static enum outcome oci_has_object(void *self, struct request *request, const char *key)
{
    const struct image_entry *entry = NULL;
    return find_image_entry(self, request, key, &entry);
}

static enum outcome oci_probe_registry(void *self, struct request *request)
{
    return need_image(self, request);
}

static void destroy_oci(void *self)
{
    struct oci *oci = self;
    registry_fini(&oci->registry);
    image_fini(&oci->image);
    (void)pthread_mutex_destroy(&oci->lock);
    free(oci);
}

ingot_status_t oci_open(struct transport *transport, const struct url *url)
{
    static const struct transport_ops ops = {
        1, oci_get_objects, oci_put_object, oci_remove_object, oci_has_object, oci_probe_registry, destroy_oci, NULL};
    struct oci *oci = calloc(1, sizeof(*oci));
    if (oci == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a remote tier");
    pthread_mutex_init(&oci->lock, NULL);
    const ingot_status_t status = registry_init(&oci->registry, url);
    if (status == INGOT_SUCCESS)
        *transport = (struct transport){&ops, oci};
    else
        free(oci);
    return status;
}
