/*
 * builders.c - starts builders; see builders.h and doc/builders.md.
 *
 * The tool is started once per store, namespace and machine: it has a role in the store, and so has each application
 * that may use it (private/wish.h). So an application sees whether there is a builder, and the builder whether there is
 * still an application, however either of them ends.
 *
 * The tool must not be a child of the application, which may wait for any child, or for none and then has a zombie. So
 * a process in between starts it, and ends at once. This process sends no SIGCHLD, is seen by no wait() but the one
 * below, and shares the application's memory, which is faster than a copy and calls no handlers of fork().
 */
#include "front/builders.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ingot/backend.h>
#include <ingot/private/wish.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "persist/base/base.h"
#include "persist/storage/storage.h"
#include "util/nanoseconds.h"

#define REMOTE "INGOT_PERSIST_REMOTE="
#define LOOK_NS NS_PER_SECOND
#define LEAST_PAUSE_NS (10 * NS_PER_SECOND) /* as long as a builder waits for wishes */
#define MOST_PAUSE_NS (640 * NS_PER_SECOND)
#define NEVER UINT64_MAX

enum { STACK_SIZE = 1 << 16, NICE = 10, FIRST_FD = 3, MOST_FDS = 1 << 20 };

extern char **environ;

struct builders {
    uint64_t count;     /* like the next two, it stays as it was made */
    const char *remote; /* behind this structure; NULL: none */
    bool ignores_environment;
    /* When it may be time to start a builder. Whoever sets it to NEVER owns the next fields, until it sets it again. */
    _Atomic uint64_t look_ns;
    struct ingot_held_role *user; /* NULL: nothing was begun yet */
    uint64_t start_ns;            /* the earliest time of the next start */
    uint64_t pause_ns;            /* between the next two starts; 0: the least */
};

/* ---- the tool ---- */

/* Finds the tool beside this library, in a package, an installation or a wheel. Otherwise, writes the name that is
 * looked for on PATH. A relative path of the library may be of another working directory. */
static void find_tool(char path[PATH_MAX])
{
    static const char *const places[] = {"", INGOT_BIN_FROM_LIB "/", "../bin/"};
    static const char anchor;
    struct stat facts;
    Dl_info library;
    const bool is_found = dladdr(&anchor, &library) != 0 && library.dli_fname[0] == '/';
    const char *end = is_found ? strrchr(library.dli_fname, '/') : NULL;
    for (size_t i = 0; end != NULL && i < sizeof(places) / sizeof(places[0]); ++i) {
        const int length = (int)(end + 1 - library.dli_fname);
        const int size = snprintf(path, PATH_MAX, "%.*s%singot", length, library.dli_fname, places[i]);
        if (size < PATH_MAX && stat(path, &facts) == 0 && S_ISREG(facts.st_mode) && access(path, X_OK) == 0)
            return;
    }
    (void)strcpy(path, "ingot");
}

/* Returns the environment that the cache has read, of malloc. The server's URL may contain a password, which arguments
 * would show to all users. */
static char **make_environment(const struct builders *builders)
{
    const char *remote = builders->remote;
    size_t count = 0;
    while (environ != NULL && environ[count] != NULL)
        ++count;
    const size_t remote_size = remote != NULL ? sizeof(REMOTE) + strlen(remote) : 0;
    char **made = malloc((count + 2) * sizeof(*made) + remote_size);
    if (made == NULL)
        return NULL;
    char **end = made;
    for (size_t i = 0; i < count; ++i) {
        const bool is_left_out = (builders->ignores_environment && strncmp(environ[i], "INGOT_", 6) == 0) ||
                                 (remote != NULL && strncmp(environ[i], REMOTE, strlen(REMOTE)) == 0);
        if (!is_left_out)
            *end++ = environ[i];
    }
    if (remote != NULL) /* its text is behind the pointers */
        *end++ = strcat(strcpy((char *)(made + count + 2), REMOTE), remote);
    *end = NULL;
    return made;
}

/* ---- starting it ---- */

struct start {
    const char *tool;
    char *const *arguments;
    char **environment;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    int error;
};

/* The process in between. It has its own descriptors and priority, but not its own memory. */
static int start_tool(void *opaque)
{
    struct start *start = opaque;
    pid_t pid = 0;
    const struct sched_param none = {.sched_priority = 0};
    const int policy = sched_getscheduler(0);
    bool are_closed = false;
#ifdef SYS_close_range
    are_closed = syscall(SYS_close_range, FIRST_FD, ~0u, 0) == 0;
#endif
    /* Otherwise, those above a bound stay open: a container may allow a thousand million. */
    const long count = are_closed ? 0 : sysconf(_SC_OPEN_MAX);
    for (long fd = FIRST_FD; fd < count && fd < MOST_FDS; ++fd)
        (void)syscall(SYS_close, (int)fd);
    if (policy == SCHED_FIFO || policy == SCHED_RR) /* of the application's thread, and no nice value counts there */
        (void)sched_setscheduler(0, SCHED_OTHER, &none);
    (void)setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + NICE);
    start->error =
        posix_spawnp(&pid, start->tool, &start->actions, &start->attributes, start->arguments, start->environment);
    return 0;
}

/* Blocks all signals meanwhile, because the application's handlers would run in its memory, but in another process.
 * Returns 0 or an errno. */
static int run_start(struct start *start)
{
    sigset_t all, before;
    char *stack = malloc(STACK_SIZE);
    if (stack == NULL)
        return ENOMEM;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t pid = clone(start_tool, stack + STACK_SIZE, CLONE_VM | CLONE_VFORK, start);
    const int error = pid < 0 ? errno : 0;
    while (pid > 0 && waitpid(pid, NULL, (int)__WCLONE) < 0 && errno == EINTR) {
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    free(stack);
    return error != 0 ? error : start->error;
}

/* Starts a process without a terminal, with default signals. Returns 0 or an errno. */
static int start_builder(const struct builders *builders, ingot_storage_t store)
{
    char tool[PATH_MAX];
    char jobs[24];
    const char *name_space = storage_name_space(store);
    const char *const arguments[] = {
        "ingot",    "build", "--watch", "--while-used",        "--idle=10s",
        "--jobs",   jobs,    "--dir",   directory_path(store), name_space[0] != '\0' ? "--namespace" : NULL,
        name_space, NULL};
    (void)snprintf(jobs, sizeof(jobs), "%llu", (unsigned long long)builders->count);
    sigset_t all, none;
    (void)sigfillset(&all);
    (void)sigemptyset(&none);
    find_tool(tool);
    struct start start = {
        .tool = tool, .arguments = (char *const *)arguments, .environment = make_environment(builders)};
    int error = start.environment == NULL ? ENOMEM : posix_spawnattr_init(&start.attributes);
    if (error != 0)
        goto done;
    error = posix_spawn_file_actions_init(&start.actions);
    if (error != 0)
        goto without_actions;
    (void)posix_spawnattr_setflags(&start.attributes,
                                   POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
    (void)posix_spawnattr_setsigdefault(&start.attributes, &all);
    (void)posix_spawnattr_setsigmask(&start.attributes, &none);
    for (int fd = 0; fd < FIRST_FD && error == 0; ++fd)
        error = posix_spawn_file_actions_addopen(&start.actions, fd, "/dev/null", O_RDWR, 0);
    if (error == 0)
        error = run_start(&start);
    (void)posix_spawn_file_actions_destroy(&start.actions);
without_actions:
    (void)posix_spawnattr_destroy(&start.attributes);
done:
    free(start.environment);
    return error;
}

/* ---- when ---- */

struct builders *builders_create(uint64_t count, const char *remote, bool ignores_environment)
{
    const size_t remote_size = remote != NULL ? strlen(remote) + 1 : 0;
    struct builders *builders = count != 0 ? calloc(1, sizeof(*builders) + remote_size) : NULL;
    if (builders == NULL)
        return NULL;
    builders->count = count;
    builders->ignores_environment = ignores_environment;
    if (remote != NULL)
        builders->remote = memcpy(builders + 1, remote, remote_size);
    return builders;
}

void builders_destroy(struct builders *builders)
{
    if (builders == NULL)
        return;
    ingot_persist_leave_role(builders->user);
    free(builders);
}

static ingot_status_t look_after(struct builders *builders, ingot_storage_t store, uint64_t now_ns)
{
    /* The caller chooses where a program finds itself, what is on PATH, and which drivers the tool loads. */
    if (getauxval(AT_SECURE) != 0)
        return ingot_set_error_detail(INGOT_NOT_FOUND, "no builder is started: the process has the rights of others");
    ingot_status_t status =
        builders->user == NULL ? ingot_persist_take_role(store, INGOT_ROLE_USER, &builders->user) : INGOT_SUCCESS;
    if (status != INGOT_SUCCESS)
        return status;
    if (ingot_persist_has_role(store, INGOT_ROLE_BUILDER)) {
        builders->pause_ns = 0;
        return INGOT_SUCCESS;
    }
    if (now_ns < builders->start_ns)
        return INGOT_SUCCESS;
    /* Somebody may have removed the store, and with it the file in which this role is a lock. */
    ingot_persist_leave_role(builders->user);
    builders->user = NULL;
    status = ingot_persist_take_role(store, INGOT_ROLE_USER, &builders->user);
    if (status != INGOT_SUCCESS)
        return status;
    /* A builder that ends at once is started again after growing pauses. */
    builders->pause_ns = builders->pause_ns == 0              ? LEAST_PAUSE_NS
                         : builders->pause_ns < MOST_PAUSE_NS ? 2 * builders->pause_ns
                                                              : MOST_PAUSE_NS;
    builders->start_ns = now_ns + builders->pause_ns;
    const int error = start_builder(builders, store);
    return error == 0
               ? INGOT_SUCCESS
               : ingot_set_error_detail(INGOT_NOT_FOUND, "no builder is started: %s",
                                        error == ENOENT ? "the tool ingot is neither beside the library nor on PATH"
                                                        : strerror(error));
}

ingot_status_t builders_call(struct builders *builders, ingot_storage_t storage)
{
    const uint64_t now_ns = files_steady_clock_ns();
    uint64_t look_ns = builders != NULL ? atomic_load(&builders->look_ns) : NEVER;
    if (now_ns < look_ns || !atomic_compare_exchange_strong(&builders->look_ns, &look_ns, NEVER))
        return INGOT_SUCCESS;
    const ingot_status_t status = look_after(builders, storage_stored_to(storage), now_ns);
    atomic_store(&builders->look_ns, status == INGOT_SUCCESS ? now_ns + LOOK_NS : NEVER);
    return status;
}
