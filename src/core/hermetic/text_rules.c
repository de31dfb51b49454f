/*
 * text_rules.c - gets a compiler's rules from the backend, and completes them; see text_rules.h.
 */
#include "core/hermetic/text_rules.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/bytes.h"

static const char *const common_options[] = {"-O*", "-g", "-w", "-W", "-Wall", "-Wextra", "-Werror", "-Wno-*", NULL};

static void put_name_list(struct bytes_writer *out, const char *const *list)
{
    for (; list != NULL && *list != NULL; ++list)
        bytes_put_framed_text(out, *list);
    bytes_put_u64(out, list != NULL ? UINT64_MAX : UINT64_MAX - 1);
}

/* Computes the digest of the rules. It contains the values of the variables in option_variables, but not their
 * names. */
static bool digest_rules(struct text_rules *rules, const ingot_allocator_t *allocator)
{
    _Static_assert(offsetof(ingot_text_rules_t, assembler_reads_files) + sizeof(void *) == sizeof(ingot_text_rules_t),
                   "a new rule belongs to the digest");
    const ingot_text_rules_t *of_backend = &rules->of_backend;
    struct bytes_writer out;
    bytes_writer_init(&out, allocator);
    bytes_put_u32(&out, (uint32_t)of_backend->option_quotes);
    bytes_put_u32(&out, (uint32_t)of_backend->current_directory);
    bytes_put_u32(&out, (of_backend->searches_beside_source ? 1u : 0u) | (of_backend->knows_all_directories ? 2u : 0u) |
                            (of_backend->unnamed_source != NULL ? 4u : 0u) |
                            (of_backend->assembler_reads_files ? 8u : 0u));
    if (of_backend->unnamed_source != NULL)
        bytes_put_framed_text(&out, of_backend->unnamed_source);
    put_name_list(&out, of_backend->options);
    put_name_list(&out, of_backend->options_with_value);
    put_name_list(&out, of_backend->late_directories);
    bytes_put_framed_text(&out, rules->variable_options);
    return digest_of_written(&out, rules->digest);
}

/* Appends the values of the variables, each followed by a blank. */
static void put_variable_options(struct bytes_writer *options, const char *const *names)
{
    for (; names != NULL && *names != NULL; ++names) {
        const char *value = getenv(*names); /* in a setuid process, too, because drivers also read it there */
        if (value == NULL)
            continue;
        bytes_put_text(options, value);
        bytes_put_text(options, " ");
    }
}

bool text_rules_are_current(const struct text_rules *rules, const ingot_allocator_t *allocator)
{
    struct bytes_writer options;
    if (rules->of_backend.option_variables == NULL)
        return true;
    bytes_writer_init(&options, allocator);
    put_variable_options(&options, rules->of_backend.option_variables);
    char *now = bytes_take_text(&options);
    const bool are_same = now != NULL && strcmp(now, rules->variable_options) == 0;
    memory_free_text(allocator, now);
    return are_same;
}

ingot_status_t text_rules_init(struct text_rules *rules, const ingot_allocator_t *allocator,
                               const ingot_backend_ops_t *ops, void *state)
{
    struct bytes_writer options;
    rules->of_backend = (ingot_text_rules_t){.struct_size = sizeof(rules->of_backend)};
    if (ops->get_text_rules != NULL)
        ops->get_text_rules(state, &rules->of_backend);
    if (rules->of_backend.options == NULL)
        rules->of_backend.options = common_options;

    bytes_writer_init(&options, allocator);
    put_variable_options(&options, rules->of_backend.option_variables);
    rules->variable_options = bytes_take_text(&options);
    if (rules->variable_options == NULL || !digest_rules(rules, allocator))
        return INGOT_OUT_OF_MEMORY;
    return INGOT_SUCCESS;
}

void text_rules_fini(struct text_rules *rules, const ingot_allocator_t *allocator)
{
    memory_free_text(allocator, rules->variable_options);
    rules->variable_options = NULL;
}
