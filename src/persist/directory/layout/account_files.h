/*
 * account_files.h - opens the files of a namespace's account, each for one thread at a time.
 */
#ifndef INGOT_PERSIST_DIRECTORY_LAYOUT_ACCOUNT_FILES_H
#define INGOT_PERSIST_DIRECTORY_LAYOUT_ACCOUNT_FILES_H

#include "persist/directory/layout/state.h"

/* The files for one use by one thread. */
struct open_account_files {
    struct account_files files;
    struct account_files *kept; /* where they stay open until the next use; NULL: they are closed after this use */
};

/* Opens size.txt and index.bin of a namespace, and creates them if they are missing. */
ingot_status_t account_files_get(struct directory *directory, const char *name_space, struct open_account_files *open);
void account_files_give(struct open_account_files *open);

/* Returns the descriptor of an index in which one thread may read and note uses. *kept is the kept one, or NULL if the
 * descriptor was opened for this use and the caller must close it. Returns a negated errno if there is no index. */
int account_files_borrow_index(struct directory *directory, struct account_files **kept);
void account_files_return_index(struct account_files *kept, int index_fd);

/* Closes the kept files. No thread may still be using the store. */
void account_files_fini(struct directory *directory);

/* "[namespace/]name". */
void account_files_path(char path[PATH_CAPACITY], const char *name_space, const char *name);

#endif
