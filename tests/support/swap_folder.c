/*
 * swap_folder.c - plays another user who exchanges the folder SWAP_FOLDER for a link to SWAP_VICTIM, at the moment when
 * the program begins to remove what is in it. Loaded with LD_PRELOAD.
 *
 * The victim gets a file for each path and name that the program removes, so that a program which follows the link
 * finds something to remove.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Creates a file in the victim, and the folders of its path. */
static void bait(const char *victim, const char *path)
{
    char name[PATH_MAX];
    (void)snprintf(name, sizeof(name), "%s/%s", victim, path);
    for (char *slash = strchr(name + strlen(victim) + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(name, 0700);
        *slash = '/';
    }
    (void)close(open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

/* Exchanges the folder, once the file SWAP_AFTER exists. `path` is what the program is about to remove. */
static void swap(const char *path)
{
    const char *folder = getenv("SWAP_FOLDER"), *victim = getenv("SWAP_VICTIM"), *after = getenv("SWAP_AFTER");
    char moved[PATH_MAX];
    if (folder == NULL || victim == NULL || after == NULL || access(after, F_OK) != 0)
        return;
    const size_t length = strlen(folder);
    const char *below = strncmp(path, folder, length) == 0 && path[length] == '/' ? path + length + 1 : path;
    if (below[0] == '/')
        return;
    bait(victim, below);
    (void)snprintf(moved, sizeof(moved), "%s.moved", folder);
    if (access(moved, F_OK) != 0 && access(folder, F_OK) == 0 && rename(folder, moved) == 0 &&
        symlink(victim, folder) != 0)
        abort();
}

int remove(const char *path)
{
    int (*real)(const char *);
    *(void **)(&real) = dlsym(RTLD_NEXT, "remove");
    swap(path);
    return real(path);
}

int unlinkat(int at, const char *path, int flags)
{
    int (*real)(int, const char *, int);
    *(void **)(&real) = dlsym(RTLD_NEXT, "unlinkat");
    swap(path);
    return real(at, path, flags);
}
