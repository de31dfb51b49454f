/*
 * sign.c - opens recipes and checks their seals against a trust policy, and seals recipe files; see ingot/recipe.h.
 *
 * The file is not locked while a seal is made, because that could take long. If another process appends meanwhile, the
 * seal does not cover all records, so seal_file makes another one.
 */
#include <ingot/backend.h>
#include <string.h>

#include "persist/base/memory.h"
#include "persist/recipe/reader.h"
#include "persist/recipe/writer.h"
#include "util/struct_size.h"

#define ATTEMPTS 16u
#define MAX_TEXTS ((uint64_t)1 << 34) /* bytes, uncompressed; checking them takes about a minute */
#define LOCK_TIMEOUT_MS 10000u

ingot_status_t ingot_recipe_open(ingot_recipe_t *recipe, const char *path, const ingot_persist_trust_t *trust)
{
    ingot_persist_trust_t known = INGOT_PERSIST_TRUST_INIT;
    ingot_allocator_t allocator;
    struct keyring *keyring = NULL;
    struct recipe_check check;
    ingot_recipe_t opened = NULL;
    if (recipe == NULL || path == NULL || path[0] == '\0')
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "recipe or path is missing");
    if (trust != NULL && !STRUCT_READ_OVER(known, trust))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "trust's struct_size is missing");
    (void)memory_init(&allocator, NULL);
    ingot_status_t status = keyring_create(&keyring, &known, &allocator);
    if (status != INGOT_SUCCESS)
        return status;
    if (keyring != NULL)
        recipe_check_init(&check, keyring);
    status = recipe_open_checked(&opened, path, keyring != NULL ? &check : NULL);
    if (status == INGOT_SUCCESS && keyring != NULL)
        status = recipe_check_end(&check, path);
    if (status == INGOT_SUCCESS)
        *recipe = opened;
    else
        ingot_recipe_release(opened);
    keyring_release(keyring);
    return status;
}

/* ---- sealing ---- */

static ingot_status_t fail_damaged_recipe(const char *path, const char *what)
{
    return ingot_set_error_detail(INGOT_BLOB_CORRUPT,
                                  "%s of %s is damaged, so the recipe is not sealed: ingot recipe prune drops the "
                                  "damage",
                                  what, path);
}

/* Checks all texts before they are sealed. A seal covers only their keys, so it would also fit damaged texts. */
static ingot_status_t check_recipe_texts(ingot_recipe_t recipe, const char *path)
{
    ingot_status_t status = INGOT_SUCCESS;
    if (recipe->summary.text_bytes > MAX_TEXTS)
        return ingot_set_error_detail(INGOT_NO_SPACE, "the texts of %s have more than 16 GiB, so it is not sealed",
                                      path);
    for (size_t i = 0; i < recipe->summary.text_count && status == INGOT_SUCCESS; ++i) {
        uint8_t *bytes = NULL;
        status = recipe_read_text(recipe, i, &bytes);
        memory_free(&recipe->allocator, bytes, (size_t)recipe_text_at(recipe, i)->size);
    }
    return status == INGOT_BLOB_CORRUPT ? fail_damaged_recipe(path, "a text") : status;
}

/* Makes the seal of the file as it is now, and sets *is_there to true if the file already has this seal. Fails if other
 * users may write the file. Returns the file's facts, so that no other file gets the seal. */
static ingot_status_t make_seal(const char *path, const struct keyring *keyring, uint8_t seal[RECIPE_SEAL_SIZE],
                                struct file_facts *facts, bool *is_there)
{
    struct recipe_check check;
    ingot_recipe_t recipe = NULL;
    recipe_check_init(&check, keyring);
    *is_there = false;
    ingot_status_t status = recipe_open_checked(&recipe, path, &check);
    if (status != INGOT_SUCCESS)
        return status;
    status = recipe_check_file(recipe, facts);
    if (status == INGOT_SUCCESS)
        status = recipe_check_make_seal(&check, seal);
    if (status == INGOT_BLOB_CORRUPT)
        status = fail_damaged_recipe(path, "a record");
    if (status == INGOT_SUCCESS)
        *is_there = recipe_check_has(&check, seal);
    if (status == INGOT_SUCCESS && !*is_there)
        status = check_recipe_texts(recipe, path);
    ingot_recipe_release(recipe);
    if (status == INGOT_SUCCESS && !*is_there && check.seal_count == RECIPE_MAX_SEALS)
        status = ingot_set_error_detail(INGOT_NO_SPACE,
                                        "%s has %u seals, and readers examine no more than that: ingot recipe prune "
                                        "drops them all",
                                        path, RECIPE_MAX_SEALS);
    return status;
}

/* Appends the seal. If the file already has a record with the seal's key, appends nothing and sets *is_known. */
static ingot_status_t append_seal_record(ingot_recipe_writer_t writer, const uint8_t seal[RECIPE_SEAL_SIZE],
                                         bool *is_known)
{
    struct recipe_item item = {.kind = RECIPE_RECORD_SEAL, .size = RECIPE_SEAL_SIZE, .content = seal};
    recipe_digest(item.size, seal, item.key);
    const ingot_status_t status = writer_look_up(writer, item.kind, item.key, is_known);
    return status == INGOT_SUCCESS && !*is_known ? writer_append(writer, 1, &item) : status;
}

/* Makes and appends seals until the file has a seal that covers all its records. If the file has a record with the
 * seal's key, but the next attempt makes the same seal and does not find it in the file, that record is damaged. */
static ingot_status_t seal_file(ingot_recipe_writer_t writer, const char *path, const struct keyring *keyring,
                                int *is_new)
{
    uint8_t seal[RECIPE_SEAL_SIZE];
    uint8_t before[RECIPE_SEAL_SIZE];
    struct file_facts facts;
    bool is_there = false, is_known = false;
    for (unsigned i = 0; i < ATTEMPTS; ++i) {
        ingot_status_t status = make_seal(path, keyring, seal, &facts, &is_there);
        if (status != INGOT_SUCCESS || is_there)
            return status;
        if (is_known && memcmp(seal, before, sizeof(seal)) == 0)
            return fail_damaged_recipe(path, "the seal");
        memcpy(before, seal, sizeof(seal));
        writer_expect(writer, &facts);
        status = append_seal_record(writer, seal, &is_known);
        if (status != INGOT_SUCCESS)
            return status;
        *is_new = *is_new || !is_known;
    }
    return ingot_set_error_detail(INGOT_BUSY, "other processes append to %s, so it cannot be sealed", path);
}

ingot_status_t ingot_recipe_seal(const char *path, const ingot_persist_trust_t *trust, int *is_new)
{
    ingot_persist_trust_t known = INGOT_PERSIST_TRUST_INIT;
    ingot_recipe_record_info_t info = INGOT_RECIPE_RECORD_INFO_INIT;
    ingot_recipe_writer_t writer = NULL;
    ingot_recipe_t recipe = NULL;
    struct keyring *keyring = NULL;
    ingot_allocator_t allocator;
    int was_new = 0;
    if (path == NULL || path[0] == '\0' || !STRUCT_READ_OVER(known, trust))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "path, trust or its struct_size is missing");
    known.policy = INGOT_PERSIST_TRUST_REQUIRE;
    (void)memory_init(&allocator, NULL);
    ingot_status_t status = keyring_create(&keyring, &known, &allocator);
    if (status == INGOT_SUCCESS && !keyring_can_seal(keyring))
        status = ingot_set_error_detail(INGOT_READ_ONLY, "none of the keys can seal %s: name a secret key", path);
    if (status == INGOT_SUCCESS)
        status = ingot_recipe_open(&recipe, path, NULL); /* fails if the file is missing; a writer would create it */
    ingot_recipe_release(recipe);
    info.path = path;
    info.max_bytes = RECIPE_MAX_FILE_BYTES;
    info.lock_timeout_ms = LOCK_TIMEOUT_MS;
    if (status == INGOT_SUCCESS)
        status = ingot_recipe_writer_open(&writer, &info);
    if (status == INGOT_SUCCESS)
        status = seal_file(writer, path, keyring, &was_new);
    ingot_recipe_writer_release(writer);
    keyring_release(keyring);
    if (status == INGOT_SUCCESS && is_new != NULL)
        *is_new = was_new;
    return status;
}
