/*
 * identity.c - finds what the files of a tool depend on; see identity.h.
 *
 * The Python that runs the command finds it, because only it knows where its packages are. The device comes from the
 * kernel, so no driver is loaded.
 */
#include "cli/adopt/identity.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/memory.h"
#include "cli/base/text.h"

enum { LINE_CAPACITY = 256 };

/* Prints four lines: the versions; the PCI devices that are displays or accelerators; the driver; a digest of the first
 * processor's description without its clock rate, if the fourth argument asks for it. Ends with 3 if the first package
 * is missing. */
static const char script[] =
    "import hashlib, os, platform, subprocess, sys\n"
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
    "def read(path):\n"
    "    try:\n"
    "        with open(path) as file:\n"
    "            return file.read().strip()\n"
    "    except OSError:\n"
    "        return ''\n"
    "def devices(root='/sys/bus/pci/devices'):\n"
    "    every = [f'{root}/{n}' for n in os.listdir(root)] if os.path.isdir(root) else []\n"
    "    return {f'{read(d + \"/vendor\")}:{read(d + \"/device\")}' for d in every\n"
    "            if read(d + '/class')[:4] in ('0x03', '0x12')}\n"
    "def processor():\n"
    "    wanted = ('vendor_id', 'cpu family', 'model', 'flags', 'Features', 'CPU ')\n"
    "    lines = read('/proc/cpuinfo').split('\\n\\n')[0].splitlines()\n"
    "    known = '\\n'.join(line for line in lines if line.startswith(wanted))\n"
    "    return hashlib.blake2b(known.encode(), digest_size=8).hexdigest()\n"
    "packages, compilers = sys.argv[1].split(), sys.argv[2].split()\n"
    "if package(packages[0]) == 'none':\n"
    "    sys.exit(3)\n"
    "each = [f'{n} {package(n)}' for n in packages] + [f'{n}: {compiler(n)}' for n in compilers]\n"
    "host = [sys.implementation.cache_tag, ' '.join(platform.libc_ver()), platform.machine()]\n"
    "print(', '.join(each + host))\n"
    "print(' '.join(sorted(devices())) or 'none')\n"
    "print(read('/sys/module/nvidia/version') or read('/sys/module/amdgpu/version') or 'none')\n"
    "print(processor() if sys.argv[3] else '')\n";

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
    const char *host_code = kind->has_host_code ? "1" : "";
    const char *arguments[] = {python, "-c", script, kind->packages, kind->compilers, host_code, NULL};
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
    char *text = NULL;
    size_t capacity = 0;
    FILE *stream = fdopen(ends[0], "r");
    const bool is_read = stream != NULL && getdelim(&text, &capacity, '\0', stream) > 0;
    if (stream != NULL)
        (void)fclose(stream);
    if (error == 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0 && is_read)
        return text;
    free(text);
    return NULL;
}

/* Cuts the first line off a text. Returns "" if nothing is left. */
static const char *take_identity_line(char **rest)
{
    char *line = *rest;
    const size_t size = strcspn(line, "\n");
    *rest = line + size + (line[size] != '\0');
    line[size] = '\0';
    return line;
}

bool adopt_identity_find(struct adopt_identity *identity, const struct adopt_kind *kind, char **command)
{
    char *python = find_python(command[0]);
    *identity = (struct adopt_identity){.text = ask_python(python, kind)};
    char *rest = identity->text;
    if (rest == NULL)
        (void)fprintf(stderr,
                      "ingot run: --adopt %s: the version of %.*s is unknown, because %s does not have the package, so "
                      "the directory is left alone\n",
                      kind->name, (int)strcspn(kind->packages, " "), kind->packages, python);
    free(python);
    if (rest == NULL)
        return false;
    identity->versions = take_identity_line(&rest);
    identity->device = take_identity_line(&rest);
    identity->driver = take_identity_line(&rest);
    identity->processor = take_identity_line(&rest);
    return true;
}
