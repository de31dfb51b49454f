/*
 * adopt.c - writes stored files to adopted directories before the command, and stores their files after it; see
 * adopt.h.
 *
 * Each file is stored as an artifact. So is the listing, which names all files of the directory and has a digest of
 * each. The files of one folder are a unit, which is written as a whole or not at all: if a file is not in the store or
 * does not have the digest of the listing, nothing is written, and the files that the tool then makes are stored after
 * the command. If two processes end at the same time, the listing of one may replace that of the other. The files that
 * are missing in it are stored again by a later run, which costs time but never yields a wrong file.
 */
#include "cli/adopt/adopt.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/adopt/files.h"
#include "cli/adopt/kinds.h"
#include "cli/adopt/listing.h"
#include "cli/adopt/ninja.h"
#include "cli/adopt/shelf.h"
#include "cli/base/memory.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/store/store.h"
#include "util/xxh3/xxh3.h"

#define NINJA_LOG ".ninja_log"
#define NINJA_DEPS ".ninja_deps"

/* An adopted directory: one that `ingot run --adopt` was told to fill. */
struct adopted {
    struct adopted *next;
    struct adopt_shelf shelf;    /* the stored files; not open if the directory is not to be changed */
    char *path;                  /* absolute */
    int directory;               /* -1: not open */
    struct adopt_listing stored; /* the listing in the store before the command */
};

/* A file of a unit, while the unit is filled. */
struct item {
    struct adopt_row *row;
    enum adopt_rule rule;
    struct adopt_content content; /* in the stored form */
    bool is_here;                 /* the directory already has the file, so it is not written */
};

struct adopted *adopt_add(struct adopted *list, const char *text)
{
    const char *equals = strchr(text, '=');
    char *name = memory_copy_text(text);
    name[equals != NULL ? equals - text : 0] = '\0';
    const struct adopt_kind *kind = adopt_kind_find(name);
    free(name);
    if (equals == NULL || equals[1] == '\0' || kind == NULL)
        return NULL;
    struct adopted *added = memory_get(sizeof(*added));
    *added = (struct adopted){.next = list, .shelf = {.kind = kind}, .directory = -1};
    char *here = equals[1] != '/' ? getcwd(NULL, 0) : NULL;
    added->path = here != NULL ? text_append(here, "/", equals + 1) : memory_copy_text(equals + 1);
    return added;
}

static void digest_content(struct adopt_row *row, const struct adopt_content *content)
{
    const struct xxh3_words words = xxh3_128_of(content->size, content->bytes);
    row->low = words.low;
    row->high = words.high;
}

static bool has_digest(const struct adopt_row *row, const struct adopt_content *content)
{
    struct adopt_row other;
    digest_content(&other, content);
    return other.low == row->low && other.high == row->high;
}

/* Reads a file of the directory, and converts its content to the form in which it is stored. */
static bool read_stored_form(const struct adopted *adopted, const char *path, enum adopt_rule rule,
                             struct adopt_content *content)
{
    if (!adopt_files_read(adopted->directory, path, content))
        return false;
    if (adopt_rule_to_stored(rule, adopted->path, content))
        return true;
    free(content->bytes);
    content->bytes = NULL;
    return false;
}

static void read_listing(const struct adopted *adopted, struct adopt_listing *listing)
{
    ingot_buffer_t value;
    if (!adopt_shelf_load(&adopted->shelf, "", &value))
        return;
    adopt_listing_read(listing, value.size, value.bytes);
    store_release_blob(&value);
}

/* ---- before the command ---- */

/* Loads a file from the store. Returns false if it is not there, or if its digest is not that of the listing. */
static bool load_item(const struct adopted *adopted, struct item *item)
{
    ingot_buffer_t value;
    if (!adopt_shelf_load(&adopted->shelf, item->row->path, &value))
        return false;
    item->content = (struct adopt_content){value.size, memory_copy(value.size, value.bytes), item->row->type == 'x'};
    store_release_blob(&value);
    return has_digest(item->row, &item->content);
}

/* Looks for a file in the directory, and otherwise in the store. Returns false if neither has it. */
static bool find_item(const struct adopted *adopted, struct item *item)
{
    item->rule = adopt_kind_rule(adopted->shelf.kind, item->row->path);
    struct adopt_content here = {0, NULL, false};
    const bool exists = read_stored_form(adopted, item->row->path, item->rule, &here);
    item->is_here = exists && (item->rule == ADOPT_LEAVE || has_digest(item->row, &here));
    if (item->is_here) {
        item->content = here;
        return true;
    }
    free(here.bytes);
    return item->rule != ADOPT_SKIP && load_item(adopted, item);
}

/* True if a unit may be written. A unit that ninja built may be written only if its inputs are the same on this machine
 * and the directory has none of its files, because ninja itself rebuilds the files that it has built. */
static bool may_write(const struct adopted *adopted, size_t count, const struct item *items,
                      const struct adopt_row *inputs)
{
    struct ninja_inputs found = {0, 0, 0};
    bool is_ninja = inputs != NULL;
    bool is_equal = false;
    bool is_here = false;
    for (size_t i = 0; i < count; ++i) {
        struct stat about;
        is_here = is_here || fstatat(adopted->directory, items[i].row->path, &about, AT_SYMLINK_NOFOLLOW) == 0;
        if (items[i].rule != ADOPT_NINJA_DEPS)
            continue;
        is_ninja = true;
        is_equal = inputs != NULL && ninja_read_inputs(&found, &items[i].content, adopted->path) &&
                   found.low == inputs->low && found.high == inputs->high;
    }
    return !is_ninja || (is_equal && !is_here);
}

static bool write_item(const struct adopted *adopted, struct item *item, uint64_t now_ns)
{
    if (item->is_here)
        return true;
    if (adopt_rule_from_stored(item->rule, adopted->path, now_ns, &item->content) &&
        adopt_files_write(adopted->directory, item->row->path, &item->content, now_ns))
        return true;
    (void)fprintf(stderr, "ingot run: --adopt %s: \"%s\" was not written: %s\n", adopted->shelf.kind->name,
                  item->row->path, strerror(errno));
    return false;
}

/* Writes the files of a unit, which are the rows of the listing from `begin` to `end`, unless one is not stored. */
static void fill_unit(const struct adopted *adopted, size_t begin, size_t end)
{
    struct item *items = memory_get((end - begin) * sizeof(*items));
    const struct adopt_row *inputs = NULL;
    size_t count = 0;
    bool is_whole = true;
    const uint64_t now_ns = units_now_ns();
    for (size_t i = begin; i < end; ++i) {
        struct adopt_row *row = &adopted->stored.rows[i];
        if (row->type == 'i') {
            inputs = row;
            continue;
        }
        items[count] = (struct item){.row = row};
        row->is_missing = !find_item(adopted, &items[count++]);
        is_whole = is_whole && !row->is_missing;
    }
    is_whole = is_whole && may_write(adopted, count, items, inputs);
    for (size_t i = 0; i < count; ++i) {
        is_whole = is_whole && write_item(adopted, &items[i], now_ns);
        free(items[i].content.bytes);
    }
    free(items);
}

static int open_directory(const char *path)
{
    char *part = memory_copy_text(path);
    for (char *slash = strchr(part + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(part, 0777);
        *slash = '/';
    }
    (void)mkdir(part, 0777);
    free(part);
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void fill_directory(struct adopted *adopted, char **command)
{
    if (!adopt_identity_find(&adopted->shelf.identity, adopted->shelf.kind, command) ||
        !adopt_shelf_open(&adopted->shelf))
        return;
    adopted->directory = open_directory(adopted->path);
    if (adopted->directory < 0) {
        (void)fprintf(stderr, "ingot run: --adopt %s: %s: %s\n", adopted->shelf.kind->name, adopted->path,
                      strerror(errno));
        adopt_shelf_close(&adopted->shelf);
        return;
    }
    read_listing(adopted, &adopted->stored);
    for (size_t begin = 0, end; begin < adopted->stored.count; begin = end) {
        end = adopt_listing_unit_end(&adopted->stored, begin);
        fill_unit(adopted, begin, end);
    }
}

void adopt_fill(struct adopted *list, char **command)
{
    for (struct adopted *each = list; each != NULL; each = each->next)
        fill_directory(each, command);
}

/* ---- after the command ---- */

static void note_file(void *user, const char *path)
{
    const struct adopt_row row = {.path = (char *)(uintptr_t)path, .type = '-'};
    adopt_listing_add(user, &row);
}

static char *path_beside(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    char *folder = memory_copy_text(path);
    folder[slash != NULL ? slash + 1 - path : 0] = '\0';
    char *beside = text_append(folder, "", name);
    return beside;
}

/* Finds the inputs of a unit that ninja built. Returns false if an input has changed since then. */
static bool find_inputs(const struct adopted *adopted, const char *deps_path, struct adopt_row *row)
{
    char *log_path = path_beside(deps_path, NINJA_LOG);
    struct adopt_content log = {0, NULL, false};
    struct adopt_content deps = {0, NULL, false};
    struct ninja_inputs inputs = {0, 0, 0};
    const bool is_valid = adopt_files_read(adopted->directory, log_path, &log) &&
                          adopt_files_read(adopted->directory, deps_path, &deps) &&
                          ninja_read_inputs(&inputs, &deps, adopted->path) &&
                          inputs.newest_ns < ninja_oldest_time(&log);
    row->low = inputs.low;
    row->high = inputs.high;
    free(deps.bytes);
    free(log.bytes);
    free(log_path);
    return is_valid;
}

/* Stores a file of the directory, unless the store has it. Returns false if storing it failed. Fills in the row. */
static bool keep_file(const struct adopted *adopted, struct adopt_row *row)
{
    struct adopt_content content;
    if (!read_stored_form(adopted, row->path, adopt_kind_rule(adopted->shelf.kind, row->path), &content))
        return false;
    digest_content(row, &content);
    row->type = content.is_executable ? 'x' : '-';
    const struct adopt_row *known = adopt_listing_find(&adopted->stored, row->path);
    const bool is_known = known != NULL && !known->is_missing && known->low == row->low && known->high == row->high;
    const bool is_stored = is_known || adopt_shelf_store(&adopted->shelf, row->path, content.size, content.bytes);
    free(content.bytes);
    return is_stored;
}

/* Stores the files of a unit, which are the rows from `begin` on, and adds them to the listing `kept`. */
static void keep_unit(const struct adopted *adopted, const struct adopt_listing *found, size_t begin, size_t end,
                      struct adopt_listing *kept)
{
    char *deps_path = path_beside(found->rows[begin].path, NINJA_DEPS);
    struct adopt_row inputs = {.type = 'i'};
    const bool is_ninja = adopt_kind_rule(adopted->shelf.kind, deps_path) == ADOPT_NINJA_DEPS &&
                          adopt_listing_find(found, deps_path) != NULL;
    const bool is_valid = !is_ninja || find_inputs(adopted, deps_path, &inputs);
    for (size_t i = begin; i < end && is_valid; ++i) {
        struct adopt_row *row = &found->rows[i];
        if (adopt_kind_rule(adopted->shelf.kind, row->path) == ADOPT_SKIP || strchr(row->path, '\n') != NULL ||
            !keep_file(adopted, row))
            continue;
        adopt_listing_add(kept, row);
    }
    if (is_ninja && is_valid) {
        deps_path[strlen(deps_path) - strlen(NINJA_DEPS)] = '\0';
        inputs.path = deps_path;
        adopt_listing_add(kept, &inputs);
    }
    free(deps_path);
}

/* Adds to the listing the units that it lacks and that other processes have stored since. */
static void add_others(const struct adopted *adopted, struct adopt_listing *kept)
{
    struct adopt_listing now = {NULL, 0};
    const size_t count = kept->count;
    size_t at = 0;
    read_listing(adopted, &now);
    adopt_listing_sort(kept);
    for (size_t begin = 0, end; begin < now.count; begin = end) {
        end = adopt_listing_unit_end(&now, begin);
        for (at = 0; at < count && !adopt_listing_is_same_folder(kept->rows[at].path, now.rows[begin].path);)
            at = adopt_listing_unit_end(kept, at);
        for (size_t i = begin; i < end && at >= count; ++i)
            adopt_listing_add(kept, &now.rows[i]);
    }
    adopt_listing_sort(kept);
    adopt_listing_free(&now);
}

static void keep_directory_files(const struct adopted *adopted)
{
    struct adopt_listing found = {NULL, 0};
    struct adopt_listing kept = {NULL, 0};
    size_t before_size = 0;
    size_t size = 0;
    if (adopted->shelf.is_read_only)
        return;
    adopt_files_walk(adopted->directory, note_file, &found);
    adopt_listing_sort(&found);
    for (size_t begin = 0, end; begin < found.count; begin = end) {
        end = adopt_listing_unit_end(&found, begin);
        keep_unit(adopted, &found, begin, end, &kept);
    }
    add_others(adopted, &kept);
    char *before = adopt_listing_write(&adopted->stored, &before_size);
    char *text = adopt_listing_write(&kept, &size);
    if (text != NULL && (before == NULL || size != before_size || memcmp(text, before, size) != 0))
        (void)adopt_shelf_store(&adopted->shelf, "", size, text);
    free(text);
    free(before);
    adopt_listing_free(&kept);
    adopt_listing_free(&found);
}

void adopt_keep(struct adopted *list)
{
    for (; list != NULL; list = list->next) {
        if (list->directory < 0)
            continue;
        keep_directory_files(list);
        (void)close(list->directory);
        adopt_shelf_close(&list->shelf);
    }
}
