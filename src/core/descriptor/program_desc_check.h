/*
 * program_desc_check.h - checks the info from which a program descriptor is made.
 */
#ifndef INGOT_CORE_DESCRIPTOR_PROGRAM_DESC_CHECK_H
#define INGOT_CORE_DESCRIPTOR_PROGRAM_DESC_CHECK_H

#include "core/descriptor/program_desc.h"

/* Returns INGOT_INVALID_ARGUMENTS for a malformed part, and INGOT_UNIMPLEMENTED for a feature that the backend
 * lacks. Duplicate constants, devices and name expressions are detected later, when they are sorted. */
ingot_status_t program_info_check(const struct ingot_context *context, const ingot_program_info_t *info);

#endif
