/*
 * macro_table.c - keeps macro definitions in a hash table by name; see macro_table.h.
 */
#include "core/hermetic/text/macro_table.h"

#include <string.h>

#include "core/base/digest.h"

void macro_table_init(struct macro_table *table, struct arena *arena)
{
    *table = (struct macro_table){.arena = arena};
}

struct macro_name macro_name_of(size_t size, const char *text)
{
    return (struct macro_name){text, size, hash128_of(size, text).low};
}

static struct macro **bucket_of(const struct macro_table *table, uint64_t hash)
{
    return &table->buckets[hash & (table->bucket_count - 1)];
}

static bool grow_buckets(struct macro_table *table)
{
    const size_t old_count = table->bucket_count;
    struct macro **old = table->buckets;
    const size_t count = old_count == 0 ? 256 : old_count * 2;
    struct macro **buckets = arena_take(table->arena, count * sizeof(struct macro *));
    if (buckets == NULL)
        return false;
    table->buckets = buckets;
    table->bucket_count = count;
    for (size_t i = 0; i < old_count; ++i) {
        for (struct macro *macro = old[i], *next; macro != NULL; macro = next) {
            next = macro->next;
            struct macro **bucket = bucket_of(table, macro->name.hash);
            macro->next = *bucket;
            *bucket = macro;
        }
    }
    return true;
}

static struct macro *find_macro(const struct macro_table *table, const struct macro_name *name)
{
    if (table->bucket_count == 0)
        return NULL;
    struct macro *macro = *bucket_of(table, name->hash);
    while (macro != NULL && (macro->name.hash != name->hash || macro->name.size != name->size ||
                             memcmp(macro->name.text, name->text, name->size) != 0))
        macro = macro->next;
    return macro;
}

struct macro *macro_table_find(const struct macro_table *table, size_t name_size, const char *name)
{
    const struct macro_name wanted = macro_name_of(name_size, name);
    return find_macro(table, &wanted);
}

static struct macro *find_or_add(struct macro_table *table, struct macro_name name)
{
    struct macro *macro = find_macro(table, &name);
    if (macro != NULL)
        return macro;
    if (table->macro_count >= table->bucket_count && !grow_buckets(table))
        return NULL;
    macro = arena_take(table->arena, sizeof(*macro));
    if (macro == NULL)
        return NULL;
    macro->name = name;
    struct macro **bucket = bucket_of(table, name.hash);
    macro->next = *bucket;
    *bucket = macro;
    ++table->macro_count;
    return macro;
}

struct macro *macro_table_define(struct macro_table *table, struct macro_name name, size_t size, const char *text)
{
    struct macro *macro = find_or_add(table, name);
    if (macro == NULL)
        return NULL;
    const struct macro_definition *known = macro->definition;
    if (known != NULL) {
        macro->is_ambiguous =
            macro->is_ambiguous || known->size != size || (size != 0 && memcmp(known->text, text, size) != 0);
        return macro;
    }
    macro->definition = arena_take(table->arena, sizeof(*macro->definition));
    if (macro->definition == NULL)
        return NULL;
    macro->definition->text = text;
    macro->definition->size = size;
    return macro;
}

void macro_table_undefine(struct macro_table *table, struct macro_name name)
{
    struct macro *macro = find_or_add(table, name);
    if (macro != NULL)
        macro->is_undefined = true;
}

void macro_table_doubt(struct macro_table *table, size_t name_size, const char *name)
{
    struct macro *macro = find_or_add(table, macro_name_of(name_size, name));
    if (macro != NULL)
        macro->is_ambiguous = true;
}

void macro_table_define_option(struct macro_table *table, size_t size, const char *value)
{
    const size_t name_size = text_name_length(size, value);
    if (name_size == 0)
        return; /* compilers reject such an option */
    const char *body = " 1";
    size_t body_size = 2;
    const char *assignment = memchr(value + name_size, '=', size - name_size);
    if (assignment != NULL) {
        body_size = size - name_size;
        char *copy = arena_copy(table->arena, body_size, value + name_size);
        if (copy == NULL)
            return;
        copy[assignment - (value + name_size)] = ' ';
        body = copy;
    }
    struct macro *macro = macro_table_define(table, macro_name_of(name_size, value), body_size, body);
    if (macro != NULL)
        macro->of_options = true;
}

bool macro_may_be_predefined(const struct macro *macro, size_t size, const char *name)
{
    static const char *const whole[] = {"linux", "unix", "i386", "NULL", "true", "false"};
    static const char *const beginnings[] = {"CL_",     "cl_khr_", "cl_ext_", "cl_intel_", "cl_nv_",
                                             "cl_amd_", "cl_arm_", "cl_img_", "cl_qcom_",  "cl_clang_"};
    if (macro != NULL && macro->of_options)
        return false;
    const bool nowhere = macro == NULL || macro->definition == NULL;
    if (size >= 2 && name[0] == '_' && (name[1] == '_' || (nowhere && name[1] >= 'A' && name[1] <= 'Z')))
        return true;
    for (size_t i = 0; nowhere && i < sizeof(whole) / sizeof(whole[0]); ++i) {
        if (size == strlen(whole[i]) && memcmp(name, whole[i], size) == 0)
            return true;
    }
    for (size_t i = 0; nowhere && i < sizeof(beginnings) / sizeof(beginnings[0]); ++i) {
        if (size > strlen(beginnings[i]) && memcmp(name, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    }
    return false;
}
