/*
 * options.h - passes a program's options to the compiler.
 */
#ifndef TINYCC_OPTIONS_H
#define TINYCC_OPTIONS_H

#include <libtcc.h>

#include <ingot/backend.h>

/*
 * Passes -I, -D and -U to the compiler. Accepts -O..., -W... and -g, which have no effect. Returns
 * INGOT_BUILD_FAILED for any other option. libtcc could read options itself, but it ends the process on an unknown
 * one.
 */
ingot_status_t options_apply(TCCState *compiler, const char *options);

#endif
