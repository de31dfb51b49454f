/*
 * options.h - the options of a program, for the compiler.
 */
#ifndef TINYCC_OPTIONS_H
#define TINYCC_OPTIONS_H

#include <libtcc.h>

#include <ingot/backend.h>

/*
 * Hands -I, -D and -U to the compiler; takes -O..., -W... and -g, which change nothing. INGOT_BUILD_FAILED: another
 * one. libtcc could read options itself, but ends the process over one that it does not know.
 */
ingot_status_t options_apply(TCCState *compiler, const char *options);

#endif
