/*
 * forms.h - the form in which a file is stored, which depends neither on the directory's path nor on times.
 */
#ifndef INGOT_CLI_ADOPT_FORMS_H
#define INGOT_CLI_ADOPT_FORMS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/adopt/files.h"
#include "cli/adopt/kinds.h"

/* Both functions may replace the content's bytes. They return false if the file cannot be stored, or is not what the
 * rule says. `directory` is an absolute path. */
bool adopt_forms_to_stored(enum adopt_rule rule, const char *directory, struct adopt_content *content);
/* `now_ns`: the time of the files of ninja that are written. */
bool adopt_forms_from_stored(enum adopt_rule rule, const char *directory, uint64_t now_ns,
                             struct adopt_content *content);

#endif
