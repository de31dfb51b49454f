/*
 * text_rules.c - the rules of a backend, with defaults; see text_rules.h.
 */
#include "core/hermetic/text_rules.h"

#include <string.h>

#include "core/base/bytes.h"
#include "core/base/os.h"

static const char *const common_options[] = {"-O*", "-g", "-w", "-W", "-Wall", "-Wextra", "-Werror", "-Wno-*", NULL};

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
    const char *const *name = rules->of_backend.option_variables;
    for (; name != NULL && *name != NULL; ++name) {
        const char *value = os_environment_of_others(*name);
        if (value == NULL)
            continue;
        bytes_put_text(&options, value);
        bytes_put_text(&options, " ");
    }
    bytes_put(&options, 1, "");
    rules->variable_options = options.failed ? NULL : alloc_text(allocator, (const char *)options.bytes);
    bytes_writer_fini(&options);
    return rules->variable_options != NULL ? INGOT_SUCCESS : INGOT_OUT_OF_MEMORY;
}

void text_rules_fini(struct text_rules *rules, const ingot_allocator_t *allocator)
{
    alloc_free_text(allocator, rules->variable_options);
    rules->variable_options = NULL;
}
