/*
 * includes.h - keeps the files that a descriptor's sources include, so that they are known without the file system.
 */
#ifndef INGOT_CORE_DESCRIPTOR_INCLUDES_H
#define INGOT_CORE_DESCRIPTOR_INCLUDES_H

#include <ingot/descriptor.h>

#include "core/hermetic/include_answers.h"

/* Adds a reference. Does nothing for NULL. */
void includes_reference(struct ingot_includes *includes);
/* Makes includes from what a resolution recorded. */
ingot_status_t includes_of_record(struct ingot_includes **includes, const struct include_record *record,
                                  const ingot_allocator_t *allocator);
/* Makes a replay that starts at the first answer. It points into the includes and is valid as long as they are. */
struct include_replay includes_replay(const struct ingot_includes *includes);

#endif
