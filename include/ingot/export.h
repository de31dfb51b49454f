/* SPDX-License-Identifier: MIT */
/* Stable. */
/**
 * @file export.h
 * INGOT_API, which exports a function from a library. All other functions are hidden.
 */
#ifndef INGOT_EXPORT_H
#define INGOT_EXPORT_H

#if defined(__GNUC__)
#define INGOT_API __attribute__((visibility("default")))
#else
#define INGOT_API
#endif

#endif
