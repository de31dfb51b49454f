/*
 * recipe.c - what the commands of `ingot recipe` share; see actions.h.
 */
#include <stdio.h>
#include <string.h>

#include "cli/base/exit_code.h"
#include "cli/build/plan.h"
#include "cli/commands/recipe/actions.h"

int recipe_find_program(ingot_recipe_t recipe, const char *digits, ingot_recipe_program_t *program)
{
    ingot_recipe_summary_t summary = INGOT_RECIPE_SUMMARY_INIT;
    char key[PLAN_KEY_TEXT_SIZE];
    size_t match_count = 0;
    (void)ingot_recipe_get_summary(recipe, &summary);
    for (uint64_t i = 0; i < summary.program_count && match_count < 2; ++i) {
        ingot_recipe_program_t each = INGOT_RECIPE_PROGRAM_INIT;
        if (ingot_recipe_get_program(recipe, (size_t)i, &each) != INGOT_SUCCESS ||
            strncmp(plan_key_text(each.key, key), digits, strlen(digits)) != 0)
            continue;
        *program = each;
        ++match_count;
    }
    if (match_count == 1)
        return EXIT_DONE;
    (void)fprintf(stderr, "ingot: %s with a key that begins with %s\n",
                  match_count == 0 ? "there is no program" : "there are several programs", digits);
    return EXIT_FINDING;
}

static uint64_t bytes_of(size_t count, const ingot_recipe_text_t *texts)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; ++i)
        bytes += texts[i].size + bytes_of(texts[i].header_count, texts[i].headers);
    return bytes;
}

uint64_t recipe_text_bytes(const ingot_recipe_program_t *program)
{
    return bytes_of(program->source_count, program->sources) + bytes_of(program->header_count, program->headers) +
           bytes_of(program->file_count, program->files);
}
