/*
 * sign_recipes.c - `ingot sign RECIPE...`: seals recipe files; see sign_recipes.h.
 */
#include "cli/commands/trust/sign_recipes.h"

#include <ingot/recipe.h>
#include <stdio.h>

#include "cli/base/counts.h"
#include "cli/base/exit_code.h"
#include "cli/store/store.h"

int sign_recipes(const struct common_options *options, size_t count, char *const *paths)
{
    ingot_persist_trust_t trust;
    struct common_options required = *options;
    uint64_t sealed_count = 0, failed_count = 0;
    required.trust_policy = INGOT_PERSIST_TRUST_REQUIRE;
    const int code = store_read_trust(&trust, &required);
    if (code != EXIT_DONE)
        return code;
    for (size_t i = 0; i < count; ++i) {
        int is_new = 0;
        const ingot_status_t status = ingot_recipe_seal(paths[i], &trust, &is_new);
        sealed_count += is_new != 0;
        failed_count += status != INGOT_SUCCESS;
        if (status != INGOT_SUCCESS)
            (void)fprintf(stderr, "ingot: sealing %s: %s: %s\n", paths[i], ingot_status_name(status),
                          ingot_last_error_detail());
    }
    const struct count counts[] = {{sealed_count, "sealed", "recipes sealed"},
                                   {count - sealed_count - failed_count, "unchanged", "already sealed"},
                                   {failed_count, "failed", "not sealed"}};
    counts_print(options->is_json, sizeof(counts) / sizeof(counts[0]), counts);
    return failed_count != 0 ? EXIT_FAILED : EXIT_DONE;
}
