/* SPDX-License-Identifier: MIT */
/**
 * @file export.h
 * What makes a function part of a library's binary interface. Everything else is hidden.
 */
#ifndef INGOT_EXPORT_H
#define INGOT_EXPORT_H

#if defined(__GNUC__)
#define INGOT_API __attribute__((visibility("default")))
#else
#define INGOT_API
#endif

#endif
