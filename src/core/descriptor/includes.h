/*
 * includes.h - keeps the files that a descriptor's sources include, so that they are known without the file system.
 */
#ifndef INGOT_CORE_DESCRIPTOR_INCLUDES_H
#define INGOT_CORE_DESCRIPTOR_INCLUDES_H

#include <ingot/private/descriptor.h>

#include "core/hermetic/include_answers.h"

/* Adds a reference. Does nothing for NULL. */
void includes_reference(struct ingot_includes *includes);
/* Makes includes from content that may come from anywhere. Returns INGOT_BLOB_CORRUPT if it is not well-formed. */
ingot_status_t includes_of_info(struct ingot_includes **includes, const ingot_includes_info_t *info,
                                const ingot_allocator_t *allocator);
/* Returns the content. The pointers are valid as long as the includes. */
ingot_includes_info_t includes_info(const struct ingot_includes *includes);
/* Makes a replay that starts at the first answer. It points into the includes and is valid as long as they are. */
struct include_replay includes_replay(const struct ingot_includes *includes);

#endif
