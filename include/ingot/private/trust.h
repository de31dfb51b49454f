/* SPDX-License-Identifier: MIT */
/* Private: not installed. Only Ingot's own libraries, layers, tool and tests use it. */
/**
 * @file private/trust.h
 * Describes key files, for the tool.
 */
#ifndef INGOT_PRIVATE_TRUST_H
#define INGOT_PRIVATE_TRUST_H

#include <ingot/trust.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Describes the key in a file. @param[in,out] info  The caller sets struct_size. Statuses as
 *  ingot_persist_set_trust. */
INGOT_API ingot_status_t ingot_persist_key_describe(const char *path, ingot_persist_key_info_t *info);

#ifdef __cplusplus
}
#endif

#endif
