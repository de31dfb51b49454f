/*
 * program_desc_check.h - checks a program's info.
 */
#ifndef INGOT_CORE_DESCRIPTOR_PROGRAM_DESC_CHECK_H
#define INGOT_CORE_DESCRIPTOR_PROGRAM_DESC_CHECK_H

#include "core/descriptor/program_desc.h"

/* Returns INGOT_INVALID_ARGUMENTS for malformed parts and INGOT_UNIMPLEMENTED for features that the backend lacks.
 * Duplicate constants, devices and name expressions are detected later. */
ingot_status_t program_info_check(const struct ingot_context *context, const ingot_program_info_t *info);

#endif
