/*
 * freshness.h - finds out what other machines did to a store on a network file system.
 *
 * Such a file system answers from a cache. A name that was missing when it was last looked up stays missing for up to a
 * minute, and the name of a file that was replaced leads to the old file, which the server has deleted (ESTALE). A
 * store uses these functions where a wrong answer would cost a compilation or spoil the index. On a local file system,
 * asking costs a few microseconds and changes nothing.
 */
#ifndef INGOT_PERSIST_DIRECTORY_LAYOUT_FRESHNESS_H
#define INGOT_PERSIST_DIRECTORY_LAYOUT_FRESHNESS_H

#include "persist/directory/layout/state.h"

/* Makes the file system ask its server about a bucket, the directories above it, and the names in it. */
void freshness_ask(const struct directory *directory, const char *bucket_path);

/* Called if what was found may change in a moment, with *attempt first set to 0. Pauses, asks the server, and returns
 * true: the caller should look again. Returns false after four attempts, which take 15 ms together. */
bool freshness_try_again(const struct directory *directory, const char *bucket_path, unsigned *attempt);

#endif
