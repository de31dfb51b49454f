/*
 * coverage_of_children.c - makes the forked children of tests write which lines they ran.
 *
 * gcov writes its counts when a process calls exit(), and these children end by _exit(), so that no destructor of the
 * test runs in them. In a coverage build, the tests are linked with this _exit(), which writes the counts first. A
 * child has only its own counts, because gcov's fork() resets them. A child with a limit on the size of files writes
 * none.
 */
#include <sys/resource.h>

void __gcov_dump(void);
_Noreturn void __real__exit(int code);
_Noreturn void __wrap__exit(int code);

void __wrap__exit(int code)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY)
        __gcov_dump();
    __real__exit(code);
}
