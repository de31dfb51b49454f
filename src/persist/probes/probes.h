/*
 * probes.h - keeps in a store what contexts learned about included files, for later processes.
 */
#ifndef INGOT_PERSIST_PROBES_PROBES_H
#define INGOT_PERSIST_PROBES_PROBES_H

#include <ingot/persist.h>
#include <ingot/private/header_memo.h>

/* Does what ingot_persist_remember_headers does, for a memo that several contexts may share. */
ingot_status_t probes_keep(ingot_storage_t storage, ingot_header_memo_t memo);

#endif
