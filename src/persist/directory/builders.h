/*
 * builders.h - the roles of a directory store: builder, and user of builders (ingot/private/wish.h).
 */
#ifndef INGOT_PERSIST_DIRECTORY_BUILDERS_H
#define INGOT_PERSIST_DIRECTORY_BUILDERS_H

#include <ingot/storage.h>

/* Returns the absolute path of a directory store's root, valid as long as the storage; NULL: it is none. */
const char *builders_path(ingot_storage_t storage);

#endif
