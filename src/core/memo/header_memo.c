/*
 * header_memo.c - remembers results with their probes, and asks keepers for them; see header_memo.h.
 *
 * The list of keepers only grows, because a thread may be using any of them: one is in use, and all end with the memo.
 * So it needs no lock.
 */
#include "core/memo/header_memo.h"

#include <string.h>

#include "core/base/error.h"
#include "core/memo/known_file.h"
#include "core/memo/probes.h"

struct keeping {
    struct keeping *older;
    uint8_t library[DIGEST_SIZE];
    ingot_probes_keeper_t keeper;
    void *user;
};

struct ingot_header_memo {
    atomic_uint references;
    ingot_allocator_t allocator;
    struct known_files files;
    struct memo_table resolutions;
    _Atomic(struct keeping *) newest;  /* release/acquire; NULL: none */
    _Atomic(struct keeping *) current; /* the one in use; release/acquire; NULL: none */
    _Atomic uint64_t learned;          /* relaxed: only the number matters */
};

struct resolution {
    struct memo_entry entry; /* the key consists of the request and of the reader's rights */
    const ingot_allocator_t *allocator;
    struct probes probes; /* points into `bytes` */
    uint8_t bytes[];
};

ingot_status_t header_memo_create(struct ingot_header_memo **memo, const ingot_allocator_t *allocator,
                                  uint64_t settle_ns)
{
    struct ingot_header_memo *made = memory_allocate_zeroed(allocator, sizeof(*made));
    if (made == NULL)
        return INGOT_OUT_OF_MEMORY;
    atomic_init(&made->references, 1);
    made->allocator = *allocator;
    made->files.allocator = &made->allocator;
    made->files.settle_ns = settle_ns;
    memo_table_init(&made->files.table, MEMO_MAX_FILE_BYTES);
    memo_table_init(&made->resolutions, MEMO_MAX_RESOLUTION_BYTES);
    *memo = made;
    return INGOT_SUCCESS;
}

void header_memo_retain(struct ingot_header_memo *memo)
{
    atomic_fetch_add_explicit(&memo->references, 1, memory_order_relaxed);
}

void header_memo_release(struct ingot_header_memo *memo)
{
    /* acq_rel: all use of the memo happens before it is freed */
    if (memo == NULL || atomic_fetch_sub_explicit(&memo->references, 1, memory_order_acq_rel) != 1)
        return;
    const ingot_allocator_t allocator = memo->allocator;
    struct keeping *keeping = atomic_load_explicit(&memo->newest, memory_order_acquire);
    while (keeping != NULL) {
        struct keeping *older = keeping->older;
        keeping->keeper.release(keeping->user);
        memory_free(&allocator, keeping, sizeof(*keeping));
        keeping = older;
    }
    memo_table_fini(&memo->resolutions);
    memo_table_fini(&memo->files.table);
    memory_free(&allocator, memo, sizeof(*memo));
}

void header_memo_watch(struct ingot_header_memo *memo, struct witness *witness)
{
    witness->files = &memo->files;
    witness->reader = os_reader();
}

uint64_t ingot_header_memo_count_learned(ingot_header_memo_t memo)
{
    return memo != NULL ? atomic_load_explicit(&memo->learned, memory_order_relaxed) : 0;
}

/* ---- in memory ---- */

static void make_resolution_key(uint8_t key[MEMO_KEY_SIZE], const uint8_t request[DIGEST_SIZE], uint64_t reader)
{
    memset(key, 0, MEMO_KEY_SIZE);
    memcpy(key, request, DIGEST_SIZE);
    memcpy(key + DIGEST_SIZE, &reader, sizeof(reader));
}

static void destroy_resolution(struct memo_entry *entry)
{
    struct resolution *resolution = (struct resolution *)entry;
    memory_free(resolution->allocator, resolution, entry->cost);
}

/* Remembers a result. Does nothing if out of memory. */
static void remember(struct ingot_header_memo *memo, const uint8_t key[MEMO_KEY_SIZE], const struct probes *probes)
{
    const size_t size = sizeof(struct resolution) + probes->answers_size + probes->result_size;
    struct resolution *made = memory_allocate(&memo->allocator, size);
    if (made == NULL)
        return;
    *made = (struct resolution){
        .entry = {.cost = size, .destroy = destroy_resolution},
        .allocator = &memo->allocator,
        .probes = {probes->answers_size, made->bytes, probes->result_size, made->bytes + probes->answers_size}};
    atomic_init(&made->entry.references, 1);
    memcpy(made->entry.key, key, MEMO_KEY_SIZE);
    if (probes->answers_size != 0)
        memcpy(made->bytes, probes->answers, probes->answers_size);
    if (probes->result_size != 0)
        memcpy(made->bytes + probes->answers_size, probes->result, probes->result_size);
    memo_table_put(&memo->resolutions, &made->entry);
    memo_entry_release(&made->entry);
}

static bool use_if_confirmed(const struct probes *probes, struct bytes_writer *result)
{
    const bool holds = witness_confirm(probes->answers_size, probes->answers);
    if (holds)
        bytes_put(result, probes->result_size, probes->result);
    return holds;
}

/* ---- at the keeper ---- */

ingot_status_t header_memo_keep(struct ingot_header_memo *memo, const uint8_t library[DIGEST_SIZE],
                                const ingot_probes_keeper_t *keeper, void *user)
{
    struct keeping *made = memory_allocate(&memo->allocator, sizeof(*made));
    if (made == NULL)
        return error_out_of_memory();
    *made = (struct keeping){.keeper = *keeper, .user = user};
    memcpy(made->library, library, DIGEST_SIZE);
    made->older = atomic_load_explicit(&memo->newest, memory_order_acquire);
    do {
        struct keeping *known = made->older;
        while (known != NULL && !(known->user == made->user && known->keeper.load == made->keeper.load &&
                                  memcmp(known->library, made->library, DIGEST_SIZE) == 0))
            known = known->older;
        if (known != NULL) {
            memory_free(&memo->allocator, made, sizeof(*made));
            atomic_store_explicit(&memo->current, known, memory_order_release);
            keeper->release(user);
            return INGOT_SUCCESS;
        }
    } while (!atomic_compare_exchange_weak_explicit(&memo->newest, &made->older, made, memory_order_acq_rel,
                                                    memory_order_acquire));
    atomic_store_explicit(&memo->current, made, memory_order_release);
    return INGOT_SUCCESS;
}

/* A request's probes at a keeper, whose functions run code of other rooms, so the thread's error detail is kept. */
struct kept {
    struct keeping *keeping;
    uint8_t id[PROBES_ID_SIZE];
    ingot_buffer_t content;
};

static bool init_kept(struct kept *kept, struct ingot_header_memo *memo, const uint8_t request[DIGEST_SIZE],
                      uint64_t reader)
{
    *kept = (struct kept){.keeping = atomic_load_explicit(&memo->current, memory_order_acquire),
                          .content = INGOT_BUFFER_INIT};
    if (kept->keeping != NULL)
        probes_write_id(kept->id, kept->keeping->library, reader, request);
    return kept->keeping != NULL;
}

static void load_kept(void *opaque, void *is_loaded)
{
    struct kept *kept = opaque;
    *(bool *)is_loaded =
        kept->keeping->keeper.load(kept->keeping->user, sizeof(kept->id), kept->id, &kept->content) == INGOT_SUCCESS;
}

static void store_kept(void *opaque, void *opaque_content)
{
    const struct kept *kept = opaque;
    const struct bytes_writer *content = opaque_content;
    kept->keeping->keeper.store(kept->keeping->user, sizeof(kept->id), kept->id, content->size, content->bytes);
}

/* ---- */

bool header_memo_lookup(struct ingot_header_memo *memo, const uint8_t key[DIGEST_SIZE], struct bytes_writer *result)
{
    const uint64_t reader = os_reader();
    uint8_t full_key[MEMO_KEY_SIZE];
    struct kept kept;
    struct probes probes;
    bool is_loaded = false;
    make_resolution_key(full_key, key, reader);
    struct resolution *known = (struct resolution *)memo_table_find(&memo->resolutions, full_key);
    bool holds = known != NULL && use_if_confirmed(&known->probes, result);
    if (known != NULL)
        memo_entry_release(&known->entry);
    if (holds || !init_kept(&kept, memo, key, reader))
        return holds;
    error_keep(load_kept, &kept, &is_loaded);
    if (!is_loaded)
        return false;
    holds = probes_read(&probes, kept.content.size, kept.content.bytes) && use_if_confirmed(&probes, result);
    if (holds)
        remember(memo, full_key, &probes);
    if (kept.content.release != NULL)
        kept.content.release(&kept.content);
    return holds;
}

void header_memo_learn(struct ingot_header_memo *memo, const uint8_t key[DIGEST_SIZE], const struct witness *witness,
                       const struct bytes_writer *result)
{
    const struct probes probes = {witness->answers.size, witness->answers.bytes, result->size, result->bytes};
    uint8_t full_key[MEMO_KEY_SIZE];
    struct kept kept;
    struct bytes_writer content;
    if (!witness->is_lasting || witness->answers.failed || result->failed || probes.answers_size > PROBES_MAX_PART ||
        probes.result_size > PROBES_MAX_PART || witness->reader != os_reader())
        return;
    make_resolution_key(full_key, key, witness->reader);
    remember(memo, full_key, &probes);
    atomic_fetch_add_explicit(&memo->learned, 1, memory_order_relaxed);
    if (!init_kept(&kept, memo, key, witness->reader))
        return;
    bytes_writer_init(&content, &memo->allocator);
    probes_write(&content, &probes);
    if (!content.failed)
        error_keep(store_kept, &kept, &content);
    bytes_writer_fini(&content);
}
