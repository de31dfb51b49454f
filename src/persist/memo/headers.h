/*
 * headers.h - keeps in a store what contexts learned about included files, for later processes.
 */
#ifndef INGOT_PERSIST_MEMO_HEADERS_H
#define INGOT_PERSIST_MEMO_HEADERS_H

#include <ingot/persist.h>
#include <ingot/private/header_memo.h>

/* Does what ingot_persist_remember_headers does, for a memo that several contexts may share. */
ingot_status_t headers_remember(ingot_storage_t storage, ingot_header_memo_t memo);
/* Called after a program was created. Now and then, saves what was learned, so that a process that never flushes loses
 * little. */
void headers_note(ingot_storage_t storage);
/* Saves what was learned since the last save. */
ingot_status_t headers_save(ingot_storage_t storage);

#endif
