/*
 * process.c - starts and ends worker processes; see process.h.
 */
#include "cli/build/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUTPUT_SIZE = 1 << 16 };

/* Returns a file in memory that cannot grow, so that a driver that prints without end cannot fill the memory. */
static int make_output(void)
{
    const int output = memfd_create("ingot-worker", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (output >= 0 && (ftruncate(output, OUTPUT_SIZE) != 0 || fcntl(output, F_ADD_SEALS, F_SEAL_GROW) != 0)) {
        (void)close(output);
        return -1;
    }
    return output;
}

/* Prepares the child. Returns false if the parent has ended in the meantime. */
static bool become_worker(const struct process *process, pid_t parent)
{
    const struct rlimit no_core = {0, 0};
    const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)setrlimit(RLIMIT_CORE, &no_core); /* crashes are expected, and a compiler's core file is large */
    (void)signal(SIGINT, SIG_DFL);
    (void)dup2(process->output, STDOUT_FILENO);
    (void)dup2(process->output, STDERR_FILENO);
    return null >= 0 && dup2(null, STDIN_FILENO) >= 0 && getppid() == parent;
}

bool process_start(struct process *process, size_t other_count, const struct process *others, process_body_t body,
                   void *user)
{
    int ends[2];
    const pid_t parent = getpid();
    *process = (struct process)PROCESS_NONE;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    process->output = make_output();
    (void)fflush(NULL); /* otherwise, the child would have a copy of the unwritten output */
    process->pid = process->output >= 0 ? fork() : -1;
    if (process->pid == 0) {
        for (size_t i = 0; i < other_count; ++i) { /* otherwise, the child would keep them open */
            if (others[i].socket >= 0)
                (void)close(others[i].socket);
        }
        (void)close(ends[0]);
        if (become_worker(process, parent))
            body(ends[1], user);
        _exit(EXIT_FAILURE);
    }
    const int error = errno;
    (void)close(ends[1]);
    process->socket = ends[0];
    if (process->pid > 0) {
        (void)setpgid(process->pid, process->pid); /* the child does the same: either may run first */
        return true;
    }
    process->pid = 0;
    process_end(process, 0, NULL);
    errno = error;
    return false;
}

uint64_t process_memory(const struct process *process)
{
    char path[64];
    char line[256];
    uint64_t kilobytes = 0;
    (void)snprintf(path, sizeof(path), "/proc/%ld/status", (long)process->pid);
    FILE *file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, "RssAnon:", 8) == 0 || strncmp(line, "VmSwap:", 7) == 0)
            kilobytes += strtoull(strchr(line, ':') + 1, NULL, 10);
    }
    if (file != NULL)
        (void)fclose(file);
    return kilobytes * 1024;
}

void process_clear_output(const struct process *process)
{
    (void)lseek(process->output, 0, SEEK_SET); /* the worker shares this file position */
}

/* Appends the last line of the output that is not empty. */
static void add_last_line(int output, size_t text_size, char *text)
{
    const off_t written = lseek(output, 0, SEEK_CUR);
    const size_t length = strlen(text);
    size_t end = written > 0 && written <= OUTPUT_SIZE ? (size_t)written : 0;
    const char *bytes = mmap(NULL, OUTPUT_SIZE, PROT_READ, MAP_SHARED, output, 0);
    if (bytes == MAP_FAILED)
        return;
    while (end > 0 && (bytes[end - 1] == '\n' || bytes[end - 1] == '\0'))
        --end;
    size_t begin = end;
    while (begin > 0 && bytes[begin - 1] != '\n' && bytes[begin - 1] != '\0')
        --begin;
    if (begin < end)
        (void)snprintf(text + length, text_size - length, ": %.*s", (int)(end - begin), bytes + begin);
    (void)munmap((void *)bytes, OUTPUT_SIZE);
}

void process_end(struct process *process, size_t text_size, char *text)
{
    int status = 0;
    if (text_size != 0)
        text[0] = '\0';
    if (process->pid > 0) {
        /* Kills the group before the worker is reaped: afterwards, its PID, and so the group, may belong to others. */
        (void)kill(-process->pid, SIGKILL);
        while (waitpid(process->pid, &status, 0) < 0 && errno == EINTR) {
        }
        if (text_size != 0 && WIFSIGNALED(status))
            (void)snprintf(text, text_size, "signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
        else if (text_size != 0)
            (void)snprintf(text, text_size, "exit status %d", WEXITSTATUS(status));
        if (text_size != 0)
            add_last_line(process->output, text_size, text);
    }
    if (process->socket >= 0)
        (void)close(process->socket);
    if (process->output >= 0)
        (void)close(process->output);
    *process = (struct process)PROCESS_NONE;
}
