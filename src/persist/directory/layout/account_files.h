/*
 * account_files.h - opens size.txt and index.bin of a namespace, separately for each use.
 */
#ifndef INGOT_PERSIST_DIRECTORY_LAYOUT_ACCOUNT_FILES_H
#define INGOT_PERSIST_DIRECTORY_LAYOUT_ACCOUNT_FILES_H

#include "persist/directory/layout/state.h"

/* The files, open for one use by one thread. */
struct open_account_files {
    struct account_files files;
    struct account_files *kept; /* where they are kept open after this use; NULL if they will be closed */
};

/* Opens size.txt and index.bin of a namespace, or takes kept ones. Creates them if they are missing. account_files_give
 * ends the use. */
ingot_status_t account_files_get(struct directory *directory, const char *name_space, struct open_account_files *open);
void account_files_give(struct open_account_files *open);

/* Returns a descriptor of the index of the store's namespace, for reading it and noting uses. Returns a negated errno
 * if there is no index. Pass *kept and the descriptor to account_files_return_index. */
int account_files_borrow_index(struct directory *directory, struct account_files **kept);
void account_files_return_index(struct account_files *kept, int index_fd);

/* Closes the kept files. No thread may use the store anymore. */
void account_files_fini(struct directory *directory);

/* Writes "[<namespace>/]<name>". */
void account_files_path(char path[PATH_CAPACITY], const char *name_space, const char *name);

#endif
