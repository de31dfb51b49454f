/*
 * process_end.c - runs the storages' last work when the process ends, and then prevents driver calls by their threads.
 *
 * A driver shuts down in exit(), by handlers and destructors that were registered when it was loaded. If a storage's
 * thread were in the driver at that moment, the process would crash, although the application did nothing wrong. This
 * file therefore registers its own handler after the driver's handlers: exit() runs the latest handler first. The
 * handler lets the storages work for as long as they may (process_end_set_work). It then prevents further driver calls,
 * and waits for those in progress. The handler is registered again with each program and after the first driver calls,
 * because drivers also create static objects, with destructors, during use.
 *
 * If an application launches a program after its last build, the launch may make the driver create static objects, as
 * LLVM's code generator does in PoCL. exit() destroys these objects before it runs the handler, whose work would then
 * crash. So if the main thread ends the process, as in most programs, the handler runs before all others: exit() first
 * destroys the thread-local objects of its thread, and the handler is the destructor of one. If the main thread ends by
 * pthread_exit(), its objects are not destroyed. The C library unloads no library that contains such a destructor.
 *
 * The handler does not wait for locks, because other threads may hold them forever while the process ends. It waits for
 * at most 30 seconds, or for as long as the storages may delay the end of the process, if that is longer.
 */
#include "persist/storage/common/process_end.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "persist/base/files.h"
#include "util/nanoseconds.h"

#define MAX_HANDLERS 4096u /* each registration takes a little memory that is never freed */
#define HANDLERS_AFTER_CALLS 4
#define MAX_WAIT_NS (30 * NS_PER_SECOND) /* limit of the wait for a call that takes longer than expected */
#define PAUSE_NS 500000u

static atomic_uint inside; /* number of threads in a driver */
static atomic_bool is_ending;
static _Atomic uint64_t ending_ns; /* when is_ending was set; relaxed: no other data depends on it */
/* NULL: no work was set; stored with release after finish_work, and loaded with acquire before finish_work is read */
static uint64_t (*_Atomic begin_work)(uint64_t now_ns);
static void (*_Atomic finish_work)(void);
static atomic_uint handler_count;
static atomic_int handlers_wanted;
static _Thread_local bool is_watched;    /* true in the main thread once its handler is registered */
static _Thread_local unsigned own_depth; /* nested calls to process_end_enter; a callback may call exit() */

extern int __cxa_thread_atexit_impl(void (*destroy)(void *), void *object, void *library) __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));

static uint64_t longer_time(uint64_t a_ns, uint64_t b_ns)
{
    return a_ns > b_ns ? a_ns : b_ns;
}

static void on_exit_of_process(void)
{
    static uint64_t wait_until_ns; /* shared by all handlers, which exit() runs one after the other */
    const uint64_t began_ns = files_steady_clock_ns();
    const bool is_first = !atomic_load_explicit(&is_ending, memory_order_relaxed);
    uint64_t (*const begin)(uint64_t) = atomic_load_explicit(&begin_work, memory_order_acquire);

    if (is_first)
        wait_until_ns = began_ns + longer_time(begin != NULL ? begin(began_ns) : 0, MAX_WAIT_NS);
    if (is_first)
        atomic_store_explicit(&ending_ns, files_steady_clock_ns(), memory_order_relaxed);
    atomic_store_explicit(&is_ending, true, memory_order_seq_cst); /* pairs with process_end_enter */
    while (atomic_load_explicit(&inside, memory_order_seq_cst) > own_depth && files_steady_clock_ns() < wait_until_ns)
        files_pause_ns(PAUSE_NS);
    if (is_first && begin != NULL)
        atomic_load_explicit(&finish_work, memory_order_relaxed)();
}

void process_end_set_work(uint64_t (*begin)(uint64_t now_ns), void (*finish)(void))
{
    atomic_store_explicit(&finish_work, finish, memory_order_relaxed);
    atomic_store_explicit(&begin_work, begin, memory_order_release);
}

/* Registers the handler once more. The counters are relaxed here and in process_end_leave, because they only limit how
 * often it is registered. */
static void add_handler(void)
{
    if (atomic_fetch_add_explicit(&handler_count, 1, memory_order_relaxed) < MAX_HANDLERS)
        (void)atexit(on_exit_of_process); /* if it fails, the process ends as it would without Ingot */
}

static void on_end_of_main_thread(void *object)
{
    (void)object;
    on_exit_of_process();
}

void process_end_watch_main_thread(void)
{
    if (!is_watched && syscall(SYS_gettid) == getpid())
        is_watched = __cxa_thread_atexit_impl != NULL &&
                     __cxa_thread_atexit_impl(on_end_of_main_thread, NULL, &__dso_handle) == 0;
}

void process_end_watch(void)
{
    process_end_watch_main_thread();
    atomic_store_explicit(&handlers_wanted, HANDLERS_AFTER_CALLS, memory_order_relaxed);
    add_handler();
}

void process_end_watch_once(void)
{
    process_end_watch_main_thread();
    if (atomic_load_explicit(&handler_count, memory_order_relaxed) == 0)
        add_handler();
}

void process_end_begin_child(void)
{
    atomic_store_explicit(&inside, own_depth, memory_order_relaxed);
}

uint64_t process_end_began_ns(void)
{
    return atomic_load_explicit(&ending_ns, memory_order_relaxed);
}

bool process_end_reserve(void)
{
    /* seq_cst: this thread adds itself to the count and then reads is_ending, and the handler sets is_ending and then
     * reads the count, so at least one of them sees the other */
    atomic_fetch_add_explicit(&inside, 1, memory_order_seq_cst);
    if (!atomic_load_explicit(&is_ending, memory_order_seq_cst))
        return true;
    atomic_fetch_sub_explicit(&inside, 1, memory_order_seq_cst);
    return false;
}

void process_end_cancel(void)
{
    atomic_fetch_sub_explicit(&inside, 1, memory_order_seq_cst);
}

void process_end_enter_reserved(void)
{
    ++own_depth;
}

bool process_end_enter(void)
{
    if (!process_end_reserve())
        return false;
    process_end_enter_reserved();
    return true;
}

void process_end_leave(void)
{
    const bool is_outermost = --own_depth == 0;
    if (is_outermost && atomic_load_explicit(&handlers_wanted, memory_order_relaxed) > 0 &&
        atomic_fetch_sub_explicit(&handlers_wanted, 1, memory_order_relaxed) > 0)
        add_handler();
    atomic_fetch_sub_explicit(&inside, 1, memory_order_seq_cst);
}
