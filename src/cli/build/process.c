/*
 * process.c - starts and ends worker processes; see build.h.
 */
#include "cli/build/build.h"

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

enum { OUTPUT_SIZE = 1 << 16, LINE_SIZE = 1024, MESSAGE_SIZE = 1 << 17 };

bool process_start(struct process *process, void (*body)(void *user), void *user)
{
    const struct rlimit no_core = {0, 0};
    const pid_t parent = getpid();
    *process = (struct process){.output = memfd_create("ingot-worker", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
    if (process->output < 0)
        return false;
    /* It cannot grow, so that a driver that prints without end cannot fill the memory. */
    const bool is_sealed =
        ftruncate(process->output, OUTPUT_SIZE) == 0 && fcntl(process->output, F_ADD_SEALS, F_SEAL_GROW) == 0;
    (void)fflush(NULL); /* otherwise, the child would have a copy of the unwritten output */
    const pid_t pid = is_sealed ? fork() : -1;
    if (pid == 0) {
        const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
        (void)setpgid(0, 0);
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)setrlimit(RLIMIT_CORE, &no_core); /* crashes are expected, and a compiler's core file is large */
        (void)signal(SIGINT, SIG_DFL);
        (void)dup2(process->output, STDOUT_FILENO);
        (void)dup2(process->output, STDERR_FILENO);
        if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && getppid() == parent) /* it has not ended in the meantime */
            body(user);
        _exit(EXIT_FAILURE);
    }
    if (pid < 0) {
        (void)close(process->output);
        return false;
    }
    (void)setpgid(pid, pid); /* the child does the same: either may run first */
    process->pid = pid;
    return true;
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

bool process_has_ended(const struct process *process)
{
    siginfo_t end = {.si_pid = 0};
    return waitid(P_PID, (id_t)process->pid, &end, WEXITED | WNOHANG | WNOWAIT) == 0 && end.si_pid != 0;
}

bool process_end(struct process *process, size_t text_size, char *text)
{
    int status = 0;
    /* Kills the group before the worker is reaped: afterwards, its PID, and so the group, may belong to others. */
    (void)kill(-process->pid, SIGKILL);
    (void)TEMP_FAILURE_RETRY(waitpid(process->pid, &status, 0));
    if (WIFSIGNALED(status))
        (void)snprintf(text, text_size, "signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        (void)snprintf(text, text_size, "exit status %d", WEXITSTATUS(status));
    /* the last line of the output that is not empty */
    char bytes[LINE_SIZE];
    const off_t written = lseek(process->output, 0, SEEK_CUR); /* the worker shares this position */
    const off_t from = written > LINE_SIZE ? written - LINE_SIZE : 0;
    ssize_t end = written > 0 ? pread(process->output, bytes, (size_t)(written - from), from) : 0;
    while (end > 0 && (bytes[end - 1] == '\n' || bytes[end - 1] == '\0'))
        --end;
    ssize_t begin = end;
    while (begin > 0 && bytes[begin - 1] != '\n' && bytes[begin - 1] != '\0')
        --begin;
    if (begin < end)
        (void)snprintf(text + strlen(text), text_size - strlen(text), ": %.*s", (int)(end - begin), bytes + begin);
    (void)close(process->output);
    process->pid = 0;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool message_send(int socket, cJSON *message)
{
    char *text = cJSON_PrintUnformatted(message);
    const size_t size = strlen(text);
    const ssize_t sent = TEMP_FAILURE_RETRY(send(socket, text, size, MSG_NOSIGNAL));
    cJSON_free(text);
    cJSON_Delete(message);
    return sent == (ssize_t)size;
}

cJSON *message_receive(int socket)
{
    static char text[MESSAGE_SIZE];
    ssize_t size = 0;
    cJSON *message = NULL;
    while (message == NULL && (size = TEMP_FAILURE_RETRY(recv(socket, text, sizeof(text), MSG_DONTWAIT))) > 0)
        message = cJSON_ParseWithLength(text, (size_t)size);
    return message;
}
