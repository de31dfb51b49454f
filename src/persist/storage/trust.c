/*
 * trust.c - applies a storage's trust policy to the blobs that it loads and stores; see storage.h.
 *
 * An operation takes a reference to the keyring under the storage's lock, and checks and seals without the lock. A
 * storage without a keyring takes no lock.
 */
#include "persist/storage/storage.h"

#include <ingot/backend.h>

#include "persist/base/base.h"
#include "persist/storage/state.h"
#include "persist/trust/seal.h"
#include "util/entry_kind.h"
#include "util/struct_size.h"

/* Returns a reference to the keyring, or NULL if there is no policy. */
static struct keyring *take_keyring(ingot_storage_t storage)
{
    if (!atomic_load_explicit(&storage->has_keyring, memory_order_acquire)) /* pairs with the release below */
        return NULL;
    pthread_mutex_lock(&storage->settings_lock);
    struct keyring *keyring = storage->keyring;
    if (keyring != NULL)
        keyring_retain(keyring);
    pthread_mutex_unlock(&storage->settings_lock);
    return keyring;
}

/* ---- the policies of a storage and of all its tiers ---- */

/* Called with a storage that has a policy. Returns false to end the visit. */
typedef bool (*visit_t)(ingot_storage_t holder, struct keyring *keyring, void *user);

static bool visit_policies(ingot_storage_t storage, visit_t visit, void *user)
{
    struct keyring *keyring = take_keyring(storage);
    bool goes_on = true;
    if (keyring != NULL) {
        goes_on = visit(storage, keyring, user);
        keyring_release(keyring);
    }
    for (size_t i = 0; i < storage->tier_count && goes_on; ++i)
        goes_on = visit_policies(storage->tiers[i], visit, user);
    return goes_on;
}

/* Bytes that policies check. */
struct checked {
    size_t id_size;
    const uint8_t *id;
    size_t size;
    const uint8_t *bytes;
    unsigned policy_count;
    ingot_status_t status;
    ingot_storage_t refusing; /* the storage whose policy refuses them; a reference; NULL: none */
};

static bool check_one(ingot_storage_t holder, struct keyring *keyring, void *user)
{
    struct checked *checked = user;
    ++checked->policy_count;
    checked->status = keyring_check(keyring, checked->id_size, checked->id, checked->size, checked->bytes);
    if (checked->status == INGOT_SUCCESS)
        return true;
    ingot_storage_retain(holder);
    checked->refusing = holder;
    return false;
}

/* Checks bytes by all policies. Without any, only opens the seal. Probes need no seal, because they never leave their
 * store. */
static struct checked check_all(ingot_storage_t storage, size_t id_size, const uint8_t *id, size_t size,
                                const uint8_t *bytes)
{
    struct checked checked = {.id_size = id_size, .id = id, .size = size, .bytes = bytes, .status = INGOT_SUCCESS};
    if (entry_kind_of(id_size, id) == ENTRY_PROBES)
        return checked;
    (void)visit_policies(storage, check_one, &checked);
    if (checked.policy_count == 0 && seal_is(size, bytes))
        checked.status = seal_examine(size, bytes);
    return checked;
}

/* ---- loads ---- */

ingot_status_t trust_check_loaded(ingot_storage_t storage, ingot_storage_t asked, size_t id_size, const uint8_t *id,
                                  ingot_buffer_t *loaded)
{
    const struct checked checked = check_all(asked, id_size, id, loaded->size, loaded->bytes);
    if (checked.status == INGOT_SUCCESS)
        return checked.status;
    const size_t size = loaded->size;
    const uint64_t now_ns = files_steady_clock_ns();
    struct kept_error why;
    kept_error_save(&why); /* the callback may call Ingot, which changes the thread's error */
    storage_count(storage, COUNTER_DISTRUSTED, 1);
    if (asked != storage)
        storage_count(asked, COUNTER_DISTRUSTED, 1);
    memory_release_buffer(loaded);
    storage_tell(checked.refusing != NULL ? checked.refusing : storage, INGOT_EVENT_STORAGE_DEGRADED, checked.status,
                 size, now_ns, "", why.text);
    ingot_storage_release(checked.refusing);
    kept_error_restore(&why);
    return checked.status;
}

/* ---- stores ---- */

/* A search for a policy that can seal. */
struct sealing {
    unsigned left; /* how many such policies are skipped */
    bool is_required;
    struct keyring *keyring; /* a reference; NULL: none found */
};

static bool find_sealing_keyring(ingot_storage_t holder, struct keyring *keyring, void *user)
{
    struct sealing *sealing = user;
    (void)holder;
    sealing->is_required = sealing->is_required || keyring_requires(keyring);
    if (sealing->keyring != NULL || !keyring_can_seal(keyring) || sealing->left-- != 0)
        return true;
    keyring_retain(keyring);
    sealing->keyring = keyring;
    return true;
}

ingot_status_t trust_check_kept(ingot_storage_t storage, size_t id_size, const uint8_t *id, size_t size,
                                const uint8_t *kept)
{
    const struct checked checked = check_all(storage, id_size, id, size, kept);
    ingot_storage_release(checked.refusing);
    return checked.status;
}

/* Seals with the policy's key, of the policies that can seal, whose seal all others accept. */
ingot_status_t trust_seal(ingot_storage_t storage, size_t id_size, const uint8_t *id, size_t blob_size,
                          const uint8_t *blob, ingot_buffer_t *sealed)
{
    ingot_status_t status = INGOT_SUCCESS;
    /* A blob that begins like a sealed one would be loaded without this beginning. So it is stored only if it is a
     * sealed blob, which only a policy can tell. */
    if (seal_is(blob_size, blob)) {
        const struct checked checked = check_all(storage, id_size, id, blob_size, blob);
        ingot_storage_release(checked.refusing);
        return checked.policy_count != 0
                   ? checked.status
                   : ingot_set_error_detail(INGOT_INVALID_ARGUMENTS,
                                            "the blob begins like a sealed one, and loading it would not return these "
                                            "bytes; ingot_persist_store_sealed stores sealed blobs");
    }
    for (unsigned tried = 0;; ++tried) {
        struct sealing sealing = {.left = tried};
        (void)visit_policies(storage, find_sealing_keyring, &sealing);
        if (sealing.keyring == NULL)
            return tried != 0 || !sealing.is_required
                       ? status
                       : ingot_set_error_detail(INGOT_READ_ONLY, "the storage requires seals, and has no secret key to "
                                                                 "seal what it stores");
        status = keyring_seal(sealing.keyring, id_size, id, blob_size, blob, sealed);
        keyring_release(sealing.keyring);
        if (status == INGOT_SUCCESS)
            status = trust_check_kept(storage, id_size, id, sealed->size, sealed->bytes);
        if (status == INGOT_SUCCESS)
            return status;
        memory_release_buffer(sealed);
        if (status != INGOT_UNTRUSTED)
            return status;
    }
}

bool trust_forbids_storing(ingot_storage_t storage)
{
    struct sealing sealing = {.left = 0};
    (void)visit_policies(storage, find_sealing_keyring, &sealing);
    keyring_release(sealing.keyring);
    return sealing.is_required && sealing.keyring == NULL;
}

bool trust_requires_seals(const ingot_persist_trust_t *trust)
{
    ingot_persist_trust_t known;
    return STRUCT_READ(known, trust) && known.policy == INGOT_PERSIST_TRUST_REQUIRE;
}

ingot_status_t ingot_persist_set_trust(ingot_storage_t storage, const ingot_persist_trust_t *trust)
{
    ingot_persist_trust_t known = INGOT_PERSIST_TRUST_INIT;
    struct keyring *keyring = NULL;
    if (trust != NULL && !STRUCT_READ_OVER(known, trust))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "trust's struct_size is missing");
    ingot_status_t status = storage_check(storage);
    if (status != INGOT_SUCCESS)
        return status;
    if (storage->must_require_seals && known.policy != INGOT_PERSIST_TRUST_REQUIRE)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the storage was opened for files of any user, so it "
                                                               "must require seals; open it again to change that");
    status = keyring_create(&keyring, &known, &storage->allocator);
    if (status == INGOT_SUCCESS) {
        pthread_mutex_lock(&storage->settings_lock);
        struct keyring *before = storage->keyring;
        storage->keyring = keyring;
        atomic_store_explicit(&storage->has_keyring, keyring != NULL, memory_order_release);
        pthread_mutex_unlock(&storage->settings_lock);
        keyring_release(before);
    }
    return status;
}
