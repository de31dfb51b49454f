/*
 * headers.h - keeps what contexts learned about included files in a store, for the next process.
 */
#ifndef INGOT_PERSIST_MEMO_HEADERS_H
#define INGOT_PERSIST_MEMO_HEADERS_H

#include <ingot/persist.h>

/* Called when a program was created: saves now and then, so that a process that never flushes keeps most of it. */
void headers_note(ingot_storage_t storage);
/* Saves what was learned since the last save. */
ingot_status_t headers_save(ingot_storage_t storage);

#endif
