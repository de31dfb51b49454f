/*
 * program_desc_check.h - what a program may be described by.
 */
#ifndef INGOT_CORE_DESCRIPTOR_PROGRAM_DESC_CHECK_H
#define INGOT_CORE_DESCRIPTOR_PROGRAM_DESC_CHECK_H

#include "core/descriptor/program_desc.h"

/* INGOT_INVALID_ARGUMENTS with a sentence for what is malformed, INGOT_UNIMPLEMENTED for what the backend does not
 * have; constants, devices and name expressions given twice are found later. */
ingot_status_t program_info_check(const struct ingot_context *context, const ingot_program_info_t *info);

#endif
