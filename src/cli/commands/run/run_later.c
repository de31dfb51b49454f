/*
 * run_later.c - stores the programs that a command has compiled but not stored; see run_later.h.
 *
 * On a device that generates code at launch, storing takes longer than compiling, so a process stores only what fits
 * into a short time at its end. The layer records all such programs in recipes, one per namespace. They are built as by
 * `ingot build`, except that a program is built only if its id is in the recipe: another environment than that of the
 * process, or another device, would result in programs that nothing looks for.
 *
 * The process that does this is not a child of the command, has nothing open that the command or the tool has, and runs
 * when nothing else does. The recipes are deleted as soon as they are open, so that nothing is left if it is killed. A
 * lock of the store's directory makes such processes work one after the other, so none compiles what another one does.
 */
#include "cli/commands/run/run_later.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ingot/persist.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/exit_code.h"
#include "cli/base/folder.h"
#include "cli/base/memory.h"
#include "cli/base/text.h"
#include "cli/build/plan.h"
#include "cli/build/schedule.h"
#include "cli/store/store.h"

#define WAITING "INGOT_LAYER_WAITING"
#define ENDING ".recipe"

enum { MOST_WORKERS = 4, MOST_SECONDS = 600, LOWEST_PRIORITY = 19, FIRST_FREE = 3 };

/* The recipe of a namespace. */
struct part {
    char *name_space;
    struct plan plan;
};

struct parts {
    struct part *items;
    size_t count;
};

/* ---- the store -------------------------------------------------------------------------------------------------- */

/* A store's directory. */
struct root {
    int fd; /* -1: the store cannot be used */
    bool is_writable;
};

/* Opens the directory, but not the store. */
static ingot_status_t note_root(ingot_persist_info_t *info, void *user)
{
    struct root *root = user;
    struct statvfs about;
    root->fd = open(info->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    root->is_writable = (info->flags & (uint32_t)INGOT_PERSIST_READ_ONLY) == 0 && access(info->path, W_OK) == 0 &&
                        root->fd >= 0 && fstatvfs(root->fd, &about) == 0 && about.f_bavail != 0;
    return INGOT_BUSY;
}

/* Returns a descriptor of the store's directory, or -1 if the store cannot be used. */
static int open_root(bool *is_writable)
{
    struct root root = {.fd = -1};
    ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
    ingot_storage_t storage = NULL;
    info.adjust = note_root;
    info.adjust_user = &root;
    (void)ingot_persist_open_from_environment(&storage, &info);
    *is_writable = root.is_writable;
    return root.fd;
}

static bool can_store(void)
{
    bool is_writable = false;
    if (store_is_on("INGOT_LAYER_DISABLE"))
        return false;
    const int fd = open_root(&is_writable);
    if (fd >= 0)
        (void)close(fd);
    return is_writable;
}

char *run_later_begin(void)
{
    const char *parent = getenv("TMPDIR");
    (void)unsetenv(WAITING); /* of an outer `ingot run`, with perhaps another store */
    if (!can_store())
        return NULL;
    if (parent == NULL || parent[0] != '/')
        parent = "/tmp";
    char *path = text_append(memory_copy_text(parent), "/", "ingot-later-XXXXXX");
    if (mkdtemp(path) != NULL && setenv(WAITING, path, 1) == 0)
        return path;
    (void)fprintf(stderr, "ingot run: nothing is stored after the command: creating a directory in %s failed: %s\n",
                  parent, strerror(errno));
    free(path);
    return NULL;
}

/* ---- the programs ----------------------------------------------------------------------------------------------- */

static bool ends_as_recipe(const char *name)
{
    const size_t length = strlen(name);
    return length > strlen(ENDING) && strcmp(name + length - strlen(ENDING), ENDING) == 0;
}

/* Opens all recipes, and removes the directory. */
static void open_parts(struct parts *parts, const char *directory)
{
    const struct dirent *item;
    DIR *stream = opendir(directory);
    while (stream != NULL && (item = readdir(stream)) != NULL) {
        struct part part = {.name_space = memory_copy_text(item->d_name)};
        if (!ends_as_recipe(part.name_space)) {
            free(part.name_space);
            continue;
        }
        char *path = text_append(memory_copy_text(directory), "/", part.name_space);
        (void)plan_open(&part.plan, 1, &path, NULL);
        free(path);
        part.name_space[strlen(part.name_space) - strlen(ENDING)] = '\0';
        parts->items = memory_grow(parts->items, parts->count, sizeof(*parts->items));
        parts->items[parts->count++] = part;
    }
    if (stream != NULL)
        (void)closedir(stream);
    (void)folder_remove(directory);
}

/* True if the program was built for a device with this text. The recipe has the name of the device, followed by its
 * driver. */
static bool is_built_for(const ingot_recipe_program_t *facts, const char *device)
{
    const size_t before = strlen(facts->backend) + strlen(": ");
    const char *driver = strstr(facts->built_for, ", driver ");
    const size_t length = driver != NULL ? (size_t)(driver - facts->built_for) : strlen(facts->built_for);
    return strlen(device) > before + length && strncmp(device, facts->backend, strlen(facts->backend)) == 0 &&
           strncmp(device + before, facts->built_for, length) == 0 && device[before + length] == ' ';
}

/* Chooses the devices of the programs, so that no context is created for any other device. */
static bool choose_recorded_devices(size_t count, char *const *texts, bool *is_chosen, void *user)
{
    const struct part *part = user;
    for (size_t i = 0; i < count; ++i) {
        for (size_t j = 0; j < part->plan.program_count; ++j)
            is_chosen[i] = is_chosen[i] || is_built_for(&part->plan.programs[j].facts, texts[i]);
    }
    return true;
}

static void tell_if_unstored(const struct plan_program *program, const char *device, const struct message *result,
                             void *user)
{
    char key[PLAN_KEY_TEXT_SIZE];
    (void)user;
    if (result->outcome == OUTCOME_BUILT || result->outcome == OUTCOME_PRESENT)
        return;
    if (is_built_for(&program->facts, device)) /* otherwise, the device is that of another program */
        (void)fprintf(stderr, "ingot run: the program %.*s %s is not stored for %s: %s\n", PLAN_SHORT_KEY,
                      plan_key_text(program->facts.key, key), program->facts.name, device, result->text);
}

/* Returns false if the user has interrupted the work. */
static bool build_part_programs(struct part *part)
{
    const uint32_t processors = schedule_count_processors();
    const struct common_options options = {.name_space = part->name_space};
    const struct worker_setup setup = {
        .plan = &part->plan, .options = &options, .is_only_recorded = true, .has_server = true};
    const struct schedule_limits limits = {processors < MOST_WORKERS ? processors : MOST_WORKERS, SCHEDULE_TIME_NS,
                                           SCHEDULE_MEMORY_BYTES};
    const struct schedule_calls calls = {.choose = choose_recorded_devices, .result = tell_if_unstored, .user = part};
    if (part->plan.program_count == 0)
        return true;
    return schedule_run(&setup, &limits, &calls) != EXIT_INTERRUPTED;
}

void run_later_store(const char *directory)
{
    static struct parts parts; /* not freed, because the process ends soon */
    bool goes_on = false;
    open_parts(&parts, directory);
    const int root = parts.count != 0 ? open_root(&goes_on) : -1;
    if (goes_on && flock(root, LOCK_EX) != 0)
        (void)fprintf(stderr, "ingot run: the store's directory cannot be locked: %s\n", strerror(errno));
    for (size_t i = 0; i < parts.count && goes_on; ++i)
        goes_on = build_part_programs(&parts.items[i]);
    if (root >= 0)
        (void)close(root);
}

/* ---- the process ------------------------------------------------------------------------------------------------ */

/* Leaves the terminal, and closes everything but the descriptor of the tool's process. Returns that descriptor, or -1
 * on failure. */
static int detach_process(int tool)
{
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    const int kept = fcntl(tool, F_DUPFD_CLOEXEC, FIRST_FREE);
    if (null < 0 || kept < 0 || setsid() < 0)
        return -1;
    for (int fd = 0; fd < FIRST_FREE; ++fd) {
        if (dup2(null, fd) < 0)
            return -1;
    }
    if ((kept > FIRST_FREE && close_range(FIRST_FREE, (unsigned)kept - 1, 0) != 0) ||
        close_range((unsigned)kept + 1, ~0U, 0) != 0)
        return -1;
    return kept;
}

/* Undoes the signal settings that the tool inherited, so that this process can be ended by every signal. */
static void reset_signals(void)
{
    sigset_t none;
    for (int number = 1; number < NSIG; ++number)
        (void)signal(number, SIG_DFL);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Lets all other processes go first, also at the disk. */
static void lower_priority(void)
{
    const struct sched_param lowest = {.sched_priority = 0};
    (void)setpriority(PRIO_PROCESS, 0, LOWEST_PRIORITY);
    (void)sched_setscheduler(0, SCHED_IDLE, &lowest);
}

/* Waits for the end of the tool, or of the program that the tool executes, and stores. */
static void wait_and_store(int tool, const char *directory)
{
    struct pollfd polled = {.fd = tool, .events = POLLIN};
    while (poll(&polled, 1, -1) < 0 && errno == EINTR) {
    }
    (void)close(tool);
    (void)alarm(MOST_SECONDS);
    run_later_store(directory);
}

/* Starts a process in a session of its own. It is not a child of this process, because the command that this process
 * may execute does not expect children. */
static bool start_detached_process(int tool, const char *directory)
{
    struct sigaction action;
    struct sigaction inherited;
    int status = 0;
    memset(&action, 0, sizeof(action));
    action.sa_handler = SIG_DFL;
    (void)sigaction(SIGCHLD, &action, &inherited); /* if SIGCHLD were ignored, the child's status would be lost */
    const pid_t first = fork();
    if (first == 0) {
        const int kept = detach_process(tool);
        reset_signals();
        lower_priority();
        const pid_t second = kept >= 0 ? fork() : -1;
        if (second == 0)
            wait_and_store(kept, directory);
        _exit(second < 0);
    }
    const bool is_started = first > 0 && waitpid(first, &status, 0) == first && status == 0;
    (void)sigaction(SIGCHLD, &inherited, NULL);
    return is_started;
}

void run_later_watch(const char *directory)
{
    const int tool = pidfd_open(getpid(), 0);
    const bool is_started = tool >= 0 && start_detached_process(tool, directory);
    if (tool >= 0)
        (void)close(tool);
    if (is_started)
        return;
    (void)fputs("ingot run: nothing is stored after the command: no process could be started for that\n", stderr);
    (void)unsetenv(WAITING);
    (void)folder_remove(directory);
}
