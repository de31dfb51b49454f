/*
 * macro_table.c - definitions by name; see macro_table.h.
 */
#include "core/include_closure/macro_table.h"

#include <string.h>

#include "core/digest.h"

void macro_table_init(struct macro_table *table, struct arena *arena)
{
    *table = (struct macro_table){.arena = arena};
}

static struct macro **bucket_of(const struct macro_table *table, size_t name_size, const char *name)
{
    return &table->buckets[hash128_of(name_size, name).low & (table->bucket_count - 1)];
}

static bool grow(struct macro_table *table)
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
            struct macro **bucket = bucket_of(table, macro->name_size, macro->name);
            macro->next = *bucket;
            *bucket = macro;
        }
    }
    return true;
}

struct macro *macro_table_find(const struct macro_table *table, size_t name_size, const char *name)
{
    if (table->bucket_count == 0)
        return NULL;
    struct macro *macro = *bucket_of(table, name_size, name);
    while (macro != NULL && (macro->name_size != name_size || memcmp(macro->name, name, name_size) != 0))
        macro = macro->next;
    return macro;
}

static struct macro *find_or_add(struct macro_table *table, size_t name_size, const char *name)
{
    struct macro *macro = macro_table_find(table, name_size, name);
    if (macro != NULL)
        return macro;
    if (table->macro_count >= table->bucket_count && !grow(table))
        return NULL;
    macro = arena_take(table->arena, sizeof(*macro));
    if (macro == NULL)
        return NULL;
    macro->name = name;
    macro->name_size = name_size;
    struct macro **bucket = bucket_of(table, name_size, name);
    macro->next = *bucket;
    *bucket = macro;
    ++table->macro_count;
    return macro;
}

/* Few macros have more than two definitions; one that a text gives a thousand times is searched only this far, and
 * its equal definitions are then counted as several. */
enum { COMPARED_DEFINITIONS = 64 };

static bool is_known(const struct macro *macro, size_t size, const char *text)
{
    const struct macro_definition *known = macro->first;
    for (size_t i = 0; known != NULL && i < COMPARED_DEFINITIONS; ++i, known = known->next) {
        if (known->size == size && memcmp(known->text, text, size) == 0)
            return true;
    }
    return false;
}

static struct macro *add_definition(struct macro_table *table, size_t name_size, const char *name, size_t size,
                                    const char *text)
{
    struct macro *macro = find_or_add(table, name_size, name);
    if (macro == NULL || is_known(macro, size, text))
        return macro;
    struct macro_definition *definition = arena_take(table->arena, sizeof(*definition));
    if (definition == NULL)
        return NULL;
    definition->text = text;
    definition->size = size;
    if (macro->last != NULL)
        macro->last->next = definition;
    else
        macro->first = definition;
    macro->last = definition;
    ++macro->definition_count;
    return macro;
}

void macro_table_define(struct macro_table *table, size_t name_size, const char *name, size_t size, const char *text)
{
    struct macro *macro = add_definition(table, name_size, name, size, text);
    if (macro != NULL && !macro->of_options)
        macro->may_be_undefined = true;
}

void macro_table_undefine(struct macro_table *table, size_t name_size, const char *name)
{
    struct macro *macro = find_or_add(table, name_size, name);
    if (macro != NULL)
        macro->may_be_undefined = true;
}

static size_t name_length(const char *text)
{
    size_t size = 0;
    while (text[size] == '_' || text[size] == '$' || (text[size] >= '0' && text[size] <= '9') ||
           (text[size] >= 'a' && text[size] <= 'z') || (text[size] >= 'A' && text[size] <= 'Z') ||
           (unsigned char)text[size] >= 0x80)
        ++size;
    return size;
}

void macro_table_define_option(struct macro_table *table, const char *value)
{
    const size_t name_size = name_length(value);
    if (name_size == 0)
        return; /* compilers refuse it */
    const char *body = " 1";
    const char *assignment = strchr(value + name_size, '=');
    if (assignment != NULL) {
        const size_t size = strlen(value + name_size);
        char *copy = arena_copy(table->arena, size, value + name_size);
        if (copy == NULL)
            return;
        copy[assignment - (value + name_size)] = ' ';
        body = copy;
    }
    struct macro *macro = add_definition(table, name_size, value, strlen(body), body);
    if (macro != NULL)
        macro->of_options = true;
}
