/*
 * failure.c - remembers why an addition to a recipe file failed; see failure.h.
 */
#include "persist/recipe/file/failure.h"

#include <ingot/backend.h>
#include <stdio.h>

#include "persist/recipe/file/open.h"

#define RETRY_NS UINT64_C(30000000000)

void recipe_failure_note(struct recipe_failure *failure, ingot_status_t status, const char *path)
{
    failure->status = status;
    failure->noted_ns = files_steady_clock_ns();
    (void)snprintf(failure->detail, sizeof(failure->detail), "%s", ingot_last_error_detail());
    failure->result = recipe_file_facts(path, &failure->facts);
}

ingot_status_t recipe_failure_check(const struct recipe_failure *failure, const char *path)
{
    struct file_facts facts;
    if (failure->status == INGOT_SUCCESS || files_steady_clock_ns() - failure->noted_ns >= RETRY_NS)
        return INGOT_SUCCESS;
    const int result = recipe_file_facts(path, &facts);
    if (failure->status == INGOT_NO_SPACE && result == 0)
        facts.modified_ns = failure->facts.modified_ns; /* another process may have tried in vain to append */
    if (result != failure->result || (result == 0 && !recipe_file_is_unchanged(&failure->facts, &facts)))
        return INGOT_SUCCESS;
    return ingot_set_error_detail(failure->status, "%s", failure->detail);
}
