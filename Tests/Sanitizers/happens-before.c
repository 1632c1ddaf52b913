// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0
//
// Tells ThreadSanitizer about the order that Swift's runtime on Linux establishes and does not report, in exactly two places.
// It is preloaded into the tests, calls the functions that it stands in for, and changes nothing that a program does. README.md
// says how this was found. In a program without ThreadSanitizer it does nothing.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))
#define ASYNC __attribute__((swiftasynccall))
#define ASYNC_CONTEXT __attribute__((swift_async_context))

// From <sanitizer/tsan_interface.h>; null where there is no ThreadSanitizer.
extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

// 1. Synchronization.Mutex
//
// The code that takes a free lock is inlined into its caller, and instrumented. The code that waits for a held one is in
// libswiftSynchronization.so, which is not: without these, a thread that waited does not seem to come after the one that unlocked.

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

SWIFT void lock(uint32_t thread, SELF void *word) __asm__(LOCK);
SWIFT bool try_lock(SELF void *word) __asm__(TRY_LOCK);
SWIFT void unlock(SELF void *word) __asm__(UNLOCK);

static SWIFT void (*next_lock)(uint32_t thread, SELF void *word);
static SWIFT bool (*next_try_lock)(SELF void *word);
static SWIFT void (*next_unlock)(SELF void *word);

SWIFT void lock(uint32_t thread, SELF void *word) {
    next_lock(thread, word);
    if (__tsan_acquire) __tsan_acquire(word);
}

SWIFT bool try_lock(SELF void *word) {
    bool locked = next_try_lock(word);
    if (locked && __tsan_acquire) __tsan_acquire(word);
    return locked;
}

SWIFT void unlock(SELF void *word) {
    if (__tsan_release) __tsan_release(word);
    next_unlock(word);
}

// 2. Continuations
//
// Resuming a continuation releases its task. A task that is waiting by then is enqueued, and acquires itself when it runs. One
// that is resumed before it waits continues at once, and does not acquire: swift_continuation_await calls the `resume` of its
// context. So, when a task that is not waiting yet is released by one of the functions that resume it, that `resume` is replaced
// by one that acquires first, and then continues where swift_continuation_init noted that the task does. If the task begins to
// wait meanwhile, it is enqueued after all, and continues there without asking the context.

struct context;
typedef ASYNC void resume_function(ASYNC_CONTEXT struct context *context);

/// The beginning of a ContinuationAsyncContext (swift/ABI/Task.h).
struct context {
    struct context *parent;
    resume_function *resume;
    uintptr_t flags;
    _Atomic(uintptr_t) state;
};
enum { PENDING = 0 };

/// The beginning of an AsyncTask (swift/ABI/Task.h).
struct task {
    void *job[7];
    resume_function *resume;
    struct context *context;
};

extern SWIFT struct task *swift_task_getCurrent(void) __attribute__((weak));

static ASYNC void acquire_and_resume(ASYNC_CONTEXT struct context *context) {
    struct task *task = swift_task_getCurrent();
    __tsan_acquire(task);
    __attribute__((musttail)) return task->resume(context);
}

static const char *const resumer_names[] = {
    "swift_continuation_resume",
    "swift_continuation_throwingResume",
    "swift_continuation_throwingResumeWithError",
};
enum { RESUMERS = sizeof resumer_names / sizeof *resumer_names };

/// Where the code of those functions is.
static struct {
    uintptr_t start, size;
} resumers[RESUMERS];

/// What the runtime calls to release anything at all.
static void release(void *address) {
    uintptr_t caller = (uintptr_t)__builtin_return_address(0);
    for (int index = 0; index < RESUMERS; index++) {
        if (caller - resumers[index].start >= resumers[index].size) continue;
        struct context *context = ((struct task *)address)->context;
        if (atomic_load(&context->state) == PENDING) context->resume = acquire_and_resume;
    }
    __tsan_release(address);
}

__attribute__((constructor)) static void begin(void) {
    next_lock = dlsym(RTLD_NEXT, LOCK);
    next_try_lock = dlsym(RTLD_NEXT, TRY_LOCK);
    next_unlock = dlsym(RTLD_NEXT, UNLOCK);

    // The runtime set this when ThreadSanitizer began, before any constructor.
    void (**runtime_release)(void *) = dlsym(RTLD_DEFAULT, "_swift_tsan_release");
    if (!__tsan_release || !runtime_release || !*runtime_release || !swift_task_getCurrent) return;
    for (int index = 0; index < RESUMERS; index++) {
        void *function = dlsym(RTLD_DEFAULT, resumer_names[index]);
        Dl_info image;
        ElfW(Sym) *symbol;
        if (!function || !dladdr1(function, &image, (void **)&symbol, RTLD_DL_SYMENT)) abort();
        resumers[index].start = (uintptr_t)function;
        resumers[index].size = symbol->st_size;
    }
    *runtime_release = release;
}
