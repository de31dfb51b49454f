/*
 * kept_error.h - saves the thread's error before work that may fail, and restores it afterwards.
 */
#ifndef INGOT_PERSIST_BASE_KEPT_ERROR_H
#define INGOT_PERSIST_BASE_KEPT_ERROR_H

#include <ingot/backend.h>

#include "util/error_text.h"

struct kept_error {
    int64_t code;
    char text[ERROR_TEXT_CAPACITY];
};

static inline void kept_error_save(struct kept_error *kept)
{
    kept->code = ingot_last_error_code();
    error_text_copy(kept->text, sizeof(kept->text), ingot_last_error_detail());
}

static inline void kept_error_restore(const struct kept_error *kept)
{
    (void)ingot_set_error(INGOT_SUCCESS, kept->code, "%s", kept->text);
}

#endif
