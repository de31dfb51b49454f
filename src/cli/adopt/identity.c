/*
 * identity.c - finds what the files of a tool depend on; see identity.h.
 *
 * The versions are those of the Python that runs the command, because only it knows where its packages are. The device
 * comes from the kernel, so no driver is loaded.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "cli/adopt/identity.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/memory.h"
#include "cli/base/text.h"
#include "util/xxh3/xxh3.h"

enum { TEXT_CAPACITY = 65536, LINE_CAPACITY = 256 };

#define DEVICES "/sys/bus/pci/devices"

/* Prints the versions. Ends with 3 if the first package is missing. */
static const char script[] =
    "import os, platform, subprocess, sys\n"
    "from importlib import metadata\n"
    "def package(name):\n"
    "    try:\n"
    "        return metadata.version(name)\n"
    "    except metadata.PackageNotFoundError:\n"
    "        return 'none'\n"
    "def compiler(name):\n"
    "    name = os.environ.get('CXX', name) if name == 'c++' else name\n"
    "    try:\n"
    "        run = subprocess.run([name, '--version'], capture_output=True, text=True)\n"
    "        return ' '.join(run.stdout.split())[:200]\n"
    "    except OSError:\n"
    "        return 'none'\n"
    "packages, compilers = sys.argv[1].split(), sys.argv[2].split()\n"
    "if package(packages[0]) == 'none':\n"
    "    sys.exit(3)\n"
    "each = [f'{n} {package(n)}' for n in packages] + [f'{n}: {compiler(n)}' for n in compilers]\n"
    "host = [sys.implementation.cache_tag, ' '.join(platform.libc_ver()), platform.machine()]\n"
    "print(', '.join(each + host), end='')\n";

/* Reads at most TEXT_CAPACITY - 1 bytes, and adds a NUL. Closes `fd`. Returns NULL if there are none. */
static char *read_text(int fd)
{
    char *text = memory_get(TEXT_CAPACITY);
    size_t size = 0;
    ssize_t count = 1;
    while (fd >= 0 && count > 0 && size < TEXT_CAPACITY - 1) {
        count = read(fd, text + size, TEXT_CAPACITY - 1 - size);
        size += count > 0 ? (size_t)count : 0;
    }
    if (fd >= 0)
        (void)close(fd);
    text[size] = '\0';
    if (size != 0)
        return text;
    free(text);
    return NULL;
}

static char *read_line_of(const char *path)
{
    char *text = read_text(open(path, O_RDONLY | O_CLOEXEC));
    if (text != NULL)
        text[strcspn(text, "\n")] = '\0';
    return text;
}

/* ---- versions ---- */

static bool is_python(const char *path)
{
    const char *slash = strrchr(path, '/');
    return strncmp(slash != NULL ? slash + 1 : path, "python", strlen("python")) == 0;
}

/* Opens a command as a shell would find it. Returns -1 if it is not found. */
static int open_command(const char *name)
{
    const char *list = strchr(name, '/') == NULL ? getenv("PATH") : NULL;
    if (list == NULL)
        return open(name, O_RDONLY | O_CLOEXEC);
    char *copy = memory_copy_text(list);
    char *rest = NULL;
    int fd = -1;
    for (char *each = strtok_r(copy, ":", &rest); each != NULL && fd < 0; each = strtok_r(NULL, ":", &rest)) {
        char *path = text_append(memory_copy_text(each), "/", name);
        fd = access(path, X_OK) == 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        free(path);
    }
    free(copy);
    return fd;
}

/* Returns the Python that runs the command: the command itself, the one in the first line of a script, or "python3".
 * The caller frees the text. */
static char *find_python(const char *command)
{
    char line[LINE_CAPACITY];
    if (is_python(command))
        return memory_copy_text(command);
    const int fd = open_command(command);
    const ssize_t size = fd >= 0 ? read(fd, line, sizeof(line) - 1) : 0;
    if (fd >= 0)
        (void)close(fd);
    line[size > 0 ? size : 0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    char *rest = NULL;
    char *word = strncmp(line, "#!", 2) == 0 ? strtok_r(line + 2, " \t", &rest) : NULL;
    for (; word != NULL; word = strtok_r(NULL, " \t", &rest))
        if (is_python(word))
            return memory_copy_text(word);
    return memory_copy_text("python3");
}

/* Returns what the script prints, or NULL if it fails. */
static char *ask_python(const char *python, const struct adopt_kind *kind)
{
    const char *arguments[] = {python, "-c", script, kind->packages, kind->compilers, NULL};
    int ends[2];
    int status = -1;
    pid_t child = -1;
    posix_spawn_file_actions_t actions;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    const int error = posix_spawnp(&child, python, &actions, NULL, (char *const *)(uintptr_t)arguments, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)close(ends[1]);
    char *text = read_text(ends[0]);
    if (error == 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return text;
    free(text);
    return NULL;
}

static char *find_versions(const struct adopt_kind *kind, char **command)
{
    char *python = find_python(command[0]);
    char *versions = ask_python(python, kind);
    if (versions == NULL)
        (void)fprintf(stderr,
                      "ingot run: --adopt %s: the version of %.*s is unknown, because %s does not have the package, so "
                      "the directory is left alone\n",
                      kind->name, (int)strcspn(kind->packages, " "), kind->packages, python);
    free(python);
    return versions;
}

/* ---- devices ---- */

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Returns "VENDOR:DEVICE", or NULL if this PCI device is neither a display nor an accelerator. */
static char *describe_device(const char *name)
{
    char *folder = text_append(memory_copy_text(DEVICES), "/", name);
    char *path = text_append(memory_copy_text(folder), "/", "class");
    char *class = read_line_of(path);
    char *found = NULL;
    if (class != NULL && (strncmp(class, "0x03", 4) == 0 || strncmp(class, "0x12", 4) == 0)) {
        free(path);
        path = text_append(memory_copy_text(folder), "/", "vendor");
        found = read_line_of(path);
        free(path);
        path = text_append(memory_copy_text(folder), "/", "device");
        char *device = read_line_of(path);
        found = text_append(found, ":", device != NULL ? device : "");
        free(device);
    }
    free(class);
    free(path);
    free(folder);
    return found;
}

/* Returns the different devices of this machine in a fixed order. */
static char *find_devices(void)
{
    char **devices = NULL;
    size_t count = 0;
    DIR *stream = opendir(DEVICES);
    const struct dirent *item;
    while (stream != NULL && (item = readdir(stream)) != NULL) {
        char *device = item->d_name[0] != '.' ? describe_device(item->d_name) : NULL;
        if (device == NULL)
            continue;
        devices = memory_grow(devices, count, sizeof(*devices));
        devices[count++] = device;
    }
    if (stream != NULL)
        (void)closedir(stream);
    if (count != 0)
        qsort(devices, count, sizeof(*devices), compare_texts);
    char *text = NULL;
    for (size_t i = 0; i < count; ++i)
        if (i == 0 || strcmp(devices[i], devices[i - 1]) != 0)
            text = text_append(text, " ", devices[i]);
    for (size_t i = 0; i < count; ++i)
        free(devices[i]);
    free(devices);
    return text != NULL ? text : memory_copy_text("none");
}

static char *find_driver(void)
{
    char *version = read_line_of("/sys/module/nvidia/version");
    if (version == NULL)
        version = read_line_of("/sys/module/amdgpu/version");
    return version != NULL ? version : memory_copy_text("none");
}

/* Returns a digest of the first processor's description without its clock rate. */
static char *find_processor(void)
{
    static const char *const wanted[] = {"vendor_id", "cpu family", "model", "flags", "Features", "CPU "};
    char *text = read_text(open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC));
    char *known = memory_copy_text("");
    char *end = text != NULL ? strstr(text, "\n\n") : NULL;
    if (end != NULL)
        *end = '\0';
    char *rest = NULL;
    for (char *line = text != NULL ? strtok_r(text, "\n", &rest) : NULL; line != NULL;
         line = strtok_r(NULL, "\n", &rest))
        for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); ++i)
            if (strncmp(line, wanted[i], strlen(wanted[i])) == 0)
                known = text_append(known, "\n", line);
    char digest[17];
    (void)snprintf(digest, sizeof(digest), "%016" PRIx64, xxh3_64_of(strlen(known), known));
    free(known);
    free(text);
    return memory_copy_text(digest);
}

bool adopt_identity_find(struct adopt_identity *identity, const struct adopt_kind *kind, char **command)
{
    *identity = (struct adopt_identity){.versions = find_versions(kind, command)};
    if (identity->versions == NULL)
        return false;
    identity->device = find_devices();
    identity->driver = find_driver();
    identity->processor = kind->has_host_code ? find_processor() : memory_copy_text("");
    return true;
}

void adopt_identity_free(struct adopt_identity *identity)
{
    free(identity->versions);
    free(identity->device);
    free(identity->driver);
    free(identity->processor);
}
