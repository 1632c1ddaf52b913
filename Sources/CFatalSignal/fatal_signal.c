/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE

#include <fatal_signal.h>
#include <terminal_guard.h>

#include "images.h"
#include "note.h"
#include "slot.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

/** A signal that ends the process. */
typedef struct fatal {
    int number;
    const char *name;
    /** What handled it before. */
    struct sigaction previous;
} fatal;

static fatal fatals[] = {
    {.number = SIGSEGV, .name = "SIGSEGV"}, {.number = SIGBUS, .name = "SIGBUS"},   {.number = SIGILL, .name = "SIGILL"},   {.number = SIGFPE, .name = "SIGFPE"},
    {.number = SIGTRAP, .name = "SIGTRAP"}, {.number = SIGSYS, .name = "SIGSYS"}, {.number = SIGABRT, .name = "SIGABRT"},
};
#define FATAL_COUNT (sizeof fatals / sizeof *fatals)

static pthread_mutex_t installing = PTHREAD_MUTEX_INITIALIZER;
static atomic_int is_installed;

/** The thread that writes the note; 0 if none does. */
static atomic_uintptr_t writer;

/** The process that notes are about: processes forked from it leave none. */
static atomic_int process;

/** Whether only the program itself may end the process now. */
static atomic_int is_guarded;

/* In the static block of thread-local memory: a handler must not allocate. */
#define THREAD_LOCAL static _Thread_local __attribute__((tls_model("initial-exec")))
THREAD_LOCAL const char *loading;
THREAD_LOCAL void *alternate;
THREAD_LOCAL uintptr_t calling;
THREAD_LOCAL const image *library;

/** Frees the alternate stack of a thread that ends. */
static pthread_key_t ending;

#ifdef __linux__
#define THREAD_NUMBER ((uint64_t)syscall(SYS_gettid))
#else
#define THREAD_NUMBER ((uint64_t)(uintptr_t)pthread_self())
#endif

static const size_t alternate_size = 64 * 1024;

void fatal_signal_set_loading(const char *plugin) { loading = plugin; }

void fatal_signal_enter_thread(void) {
    stack_t known, stack;
    if (!atomic_load(&is_installed) || alternate != NULL) return;
    if (sigaltstack(NULL, &known) != 0 || (known.ss_flags & SS_DISABLE) == 0) return;
    void *memory = mmap(NULL, alternate_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    memset(&stack, 0, sizeof stack);
    stack.ss_sp = memory;
    stack.ss_size = alternate_size;
    if (sigaltstack(&stack, NULL) == 0) {
        alternate = memory;
        pthread_setspecific(ending, memory);
    } else {
        munmap(memory, alternate_size);
    }
}

void fatal_signal_leave_thread(void) {
    stack_t none;
    if (alternate == NULL) return;
    memset(&none, 0, sizeof none);
    none.ss_flags = SS_DISABLE;
    none.ss_size = alternate_size;
    if (sigaltstack(&none, NULL) == 0) munmap(alternate, alternate_size);
    alternate = NULL;
    pthread_setspecific(ending, NULL);
}

static void end_thread(void *memory) {
    (void)memory;
    fatal_signal_leave_thread();
}

uintptr_t fatal_signal_set_calling(uintptr_t function) {
    uintptr_t before = calling;
    calling = function;
    if (alternate == NULL && function != 0) fatal_signal_enter_thread();
    return before;
}

void fatal_signal_set_library(int32_t image) { library = image_numbered(image); }

void fatal_signal_guard_exit(int32_t guards) { atomic_store(&is_guarded, guards); }

/** The image of the call that the thread makes; null if the thread has no mark. */
static const image *marked(void) {
    if (library != NULL) return library;
    /* A plugin may pass a function of a library, such as free. */
    return calling == 0 ? NULL : image_at(calling, NULL);
}

/** The plugin of the call that the thread makes, if its stack does not name one for certain. */
static image_place called(image_place place) {
    const image *image = marked();
    if (image == NULL || place.is_certain) return place;
    /* An address within the function, as a return address would be. A foreign library may have its function from another one. */
    return (image_place){image, image_at(calling, image) == image ? calling - image->base + 1 : 0, 0, 0};
}

/** What the signal has interrupted. */
typedef struct interrupted {
    int number;
    /** The address that a memory access failed at. */
    uintptr_t address;
    uintptr_t instruction, top, frame;
} interrupted;

/** The running instruction, the top of the stack and the frame pointer. */
static void registers(const void *context, uintptr_t *instruction, uintptr_t *top, uintptr_t *frame) {
    const ucontext_t *machine = context;
#if defined(__linux__) && defined(__x86_64__)
    *frame = (uintptr_t)machine->uc_mcontext.gregs[REG_RBP];
    *instruction = (uintptr_t)machine->uc_mcontext.gregs[REG_RIP];
    *top = (uintptr_t)machine->uc_mcontext.gregs[REG_RSP];
#elif defined(__linux__) && defined(__aarch64__)
    *frame = (uintptr_t)machine->uc_mcontext.regs[29];
    *instruction = (uintptr_t)machine->uc_mcontext.pc;
    *top = (uintptr_t)machine->uc_mcontext.sp;
#elif defined(__APPLE__) && defined(__x86_64__)
    *frame = (uintptr_t)machine->uc_mcontext->__ss.__rbp;
    *instruction = (uintptr_t)machine->uc_mcontext->__ss.__rip;
    *top = (uintptr_t)machine->uc_mcontext->__ss.__rsp;
#elif defined(__APPLE__) && defined(__aarch64__)
    *frame = (uintptr_t)__darwin_arm_thread_state64_get_fp(machine->uc_mcontext->__ss);
    *instruction = (uintptr_t)__darwin_arm_thread_state64_get_pc(machine->uc_mcontext->__ss);
    *top = (uintptr_t)__darwin_arm_thread_state64_get_sp(machine->uc_mcontext->__ss);
#else
#error "where are the instruction pointer and the stack pointer?"
#endif
}

/** Prints the line for people. */
static void say(const char *event, const char *plugin, image_place place) {
    static note line;
    line.length = 0;
    /* The host takes a runner's output line by line, and drops empty ones: what a plugin printed without an end is no part of this line. */
    if (slot_is_memory()) note_text(&line, "\n");
    note_text(&line, "connector-host: ");
    note_text(&line, event);
    if (plugin != NULL) {
        note_text(&line, " while the plugin ");
        note_text(&line, plugin);
        note_text(&line, " was loaded (in one of its constructors)");
    } else if (place.image != NULL) {
        const char *gates = atomic_load_explicit(&place.image->gates, memory_order_acquire);
        note_text(&line, place.is_running ? " in the plugin " : " below the plugin ");
        note_text(&line, place.image->plugin);
        if (gates != NULL) {
            note_text(&line, " of ");
            note_text(&line, gates);
        }
        note_text(&line, ", at ");
        note_text(&line, place.image->path);
        note_text(&line, "+0x");
        note_number(&line, place.offset, 16);
    } else {
        note_text(&line, ": no plugin is on the stack of the thread");
    }
    note_text(&line, "\n");
    note_write(&line, STDERR_FILENO);
}

/** Adds the signal, the thread and its calls, each as a file and the offset in it. */
static void add_frames(note *document, const interrupted *interrupted) {
    static uintptr_t frames[64];
    int count = frames_of(interrupted->instruction, interrupted->top, interrupted->frame, frames, 64);
    note_text(document, ", \"signal\": ");
    note_number(document, (uint64_t)interrupted->number, 10);
    note_text(document, ", \"address\": \"0x");
    note_number(document, interrupted->address, 16);
    note_text(document, "\", \"thread\": ");
    note_number(document, THREAD_NUMBER, 10);
    note_text(document, ", \"frames\": [");
    for (int index = 0; index < count; index++) {
        const module *module = module_at(frames[index]);
        /* A sealed image was loaded under a name that no other process can open. */
        const char *path = image_path_at(frames[index]);
        note_text(document, index == 0 ? "[\"" : ", [\"");
        note_text(document, path != NULL ? path : module == NULL ? "?" : module->path);
        note_text(document, "\", \"0x");
        note_number(document, frames[index] - (module == NULL ? 0 : module->base), 16);
        note_text(document, "\"]");
    }
    note_text(document, "]");
}

/** Writes the note for the next process: a JSON object on one line. */
static void keep(const char *event, const char *plugin, image_place place, const interrupted *interrupted) {
    static note document;
    const char *gates = NULL;
    struct timespec now = {0, 0};
    clock_gettime(CLOCK_REALTIME, &now);
    document.length = 0;
    note_text(&document, "{\"version\": 1, \"event\": \"");
    note_text(&document, event);
    if (plugin != NULL || place.image != NULL) {
        note_text(&document, "\", \"plugin\": \"");
        note_text(&document, plugin != NULL ? plugin : place.image->plugin);
    }
    note_text(&document, "\", \"seconds\": ");
    note_number(&document, (uint64_t)now.tv_sec, 10);
    note_text(&document, ", \"process\": ");
    note_number(&document, (uint64_t)getpid(), 10);
    if (plugin != NULL) {
        note_text(&document, ", \"loading\": true");
    } else if (place.image != NULL) {
        gates = atomic_load_explicit(&place.image->gates, memory_order_acquire);
        note_text(&document, ", \"path\": \"");
        note_text(&document, place.image->path);
        note_text(&document, "\", \"offset\": \"0x");
        note_number(&document, place.offset, 16);
        note_text(&document, place.is_running ? "\", \"running\": true" : "\", \"running\": false");
    }
    if (gates != NULL) {
        note_text(&document, ", \"gates\": \"");
        note_list(&document, gates, 4096);
        note_text(&document, "\"");
    }
    if (interrupted != NULL) add_frames(&document, interrupted);
    note_text(&document, "}\n");
    slot_write(&document);
}

/**
 * Claims the note for the calling thread. Returns 1 if it is the first; 0 if it already has the note, so that the fault is in the
 * handler itself. Another thread waits until the first one has ended the process, for a second at most, and gets 0.
 */
static int claim(void) {
    uintptr_t none = 0, mine = (uintptr_t)pthread_self();
    if (atomic_compare_exchange_strong(&writer, &none, mine)) return 1;
    if (none == mine) return 0;
    for (int tenth = 0; tenth < 10 && atomic_load(&writer) == none; tenth++) poll(NULL, 0, 100);
    return 0;
}

/** Passes a signal on to what handled it before. */
static void hand_on(fatal *fatal, siginfo_t *info, void *context) {
    const struct sigaction *previous = &fatal->previous;
    /* With the mask that the system would have used: Swift's backtracer copies the process, and needs the signal there. */
    sigset_t own;
    sigemptyset(&own);
    sigaddset(&own, fatal->number);
    pthread_sigmask(SIG_BLOCK, &previous->sa_mask, NULL);
    if ((previous->sa_flags & SA_NODEFER) != 0) pthread_sigmask(SIG_UNBLOCK, &own, NULL);
    if ((previous->sa_flags & SA_SIGINFO) != 0) {
        previous->sa_sigaction(fatal->number, info, context);
    } else if (previous->sa_handler != SIG_DFL && previous->sa_handler != SIG_IGN) {
        previous->sa_handler(fatal->number);
    } else {
        /* Pending until this handler returns; then it ends the process, with the core dump that it would have had. */
        struct sigaction standard;
        memset(&standard, 0, sizeof standard);
        standard.sa_handler = SIG_DFL;
        sigaction(fatal->number, &standard, NULL);
        /* The first process of a PID namespace is spared the signals that it sends itself: abort would go on to another signal. */
        if (getpid() == 1) _exit(128 + fatal->number);
        raise(fatal->number);
    }
}

static void handle(int number, siginfo_t *info, void *context) {
    int error = errno;
    fatal *fatal = fatals;
    while (fatal->number != number) fatal++;
    /* A signal that was sent is ignored as before. The system ignores none that it raises for a fault, and abort none at all. */
    int is_ignored = (fatal->previous.sa_flags & SA_SIGINFO) == 0 && fatal->previous.sa_handler == SIG_IGN;
    if (is_ignored && info->si_code <= 0 && number != SIGABRT) return;
    /* A forked process shares the terminal and the file with its parent, which continues. */
    int is_host = getpid() == atomic_load(&process);
    /* What this handler and the earlier ones print must be visible. */
    if (is_host) terminal_guard_leave();
    int is_mine = is_host && claim();
    if (is_mine) {
        interrupted interrupted = {.number = number, .address = (uintptr_t)info->si_addr};
        const char *plugin = loading;
        registers(context, &interrupted.instruction, &interrupted.top, &interrupted.frame);
        image_place place = called(image_on_stack(interrupted.instruction, interrupted.top, marked()));
        say(fatal->name, plugin, place);
        keep(fatal->name, plugin, place, &interrupted);
    }
    errno = error;
    hand_on(fatal, info, context);
    /* An earlier handler may let the process continue; the next signal is then noted, too. */
    if (is_mine) atomic_store(&writer, 0);
}

/** Runs when the process ends by a function of the C library, which a plugin must not call. A status of -1 means unknown. */
static void ending_by(const char *function, int status) {
    void *frames[128];
    image_place place = {NULL, 0, 0, 0};
    const char *plugin = loading;
    if (getpid() != atomic_load(&process)) return;
    terminal_guard_leave();
    /* No signal has interrupted anything here: the unwinder is exact, whereas a look at the stack may be deceived. */
    int count = backtrace(frames, 128);
    for (int index = 0; index < count && place.image == NULL; index++) {
        place.image = image_at((uintptr_t)frames[index], marked());
        if (place.image == NULL) continue;
        place.offset = (uintptr_t)frames[index] - place.image->base;
        place.is_certain = 1;
    }
    place = called(place);
    if (!atomic_load(&is_guarded) && plugin == NULL && place.image == NULL) return;
    if (!claim()) return;
    say(function, plugin, place);
    keep(function, plugin, place, NULL);
    if (status <= 0) _exit(FATAL_SIGNAL_EXIT_STATUS);
}

void ended_at_once(int status) {
    if (atomic_load(&is_installed)) ending_by("_exit", status);
    _exit(status);
}

#ifdef __linux__
static void exiting(int status, void *context) {
    (void)context;
    ending_by("exit", status);
}
static void exiting_quickly(void) { ending_by("quick_exit", -1); }
static void register_exit(void) {
    on_exit(exiting, NULL);
    at_quick_exit(exiting_quickly);
}
#else
static void exiting(void) { ending_by("exit", -1); }
static void register_exit(void) { atexit(exiting); }
#endif

int32_t fatal_signal_install(const char *path) {
    int32_t error = 0;
    pthread_mutex_lock(&installing);
    slot_prepare(path);
    atomic_store(&process, getpid());
    if (!atomic_load(&is_installed) && (error = images_prepare()) == 0 && (error = pthread_key_create(&ending, end_thread)) == 0) {
        /* The first use loads the unwinder's libraries. */
        void *frame[1];
        (void)backtrace(frame, 1);
        atomic_store(&is_installed, 1);
        for (size_t index = 0; index < FATAL_COUNT; index++) {
            struct sigaction action;
            memset(&action, 0, sizeof action);
            action.sa_sigaction = handle;
            action.sa_flags = SA_SIGINFO | SA_ONSTACK;
            sigemptyset(&action.sa_mask);
            sigaction(fatals[index].number, NULL, &fatals[index].previous);
            sigaction(fatals[index].number, &action, NULL);
        }
        register_exit();
    }
    pthread_mutex_unlock(&installing);
    if (error == 0) modules_refresh();
    if (error == 0) fatal_signal_enter_thread();
    return error;
}

int32_t fatal_signal_install_in(char *memory) {
    slot_prepare_memory(memory);
    return fatal_signal_install(NULL);
}

/** Whether the interrupted thread has answered: 0 or 1. */
static atomic_int has_answered;
static _Atomic(const char *) answer;

static void look(int number, siginfo_t *info, void *context) {
    int error = errno;
    uintptr_t instruction = 0, top = 0, frame = 0;
    (void)number, (void)info;
    registers(context, &instruction, &top, &frame);
    image_place place = image_on_stack(instruction, top, marked());
    atomic_store(&answer, place.image != NULL ? place.image->plugin : loading);
    atomic_store(&has_answered, 1);
    errno = error;
}

void fatal_signal_be_looked_at(void) {
    sigset_t looked;
    sigemptyset(&looked);
    sigaddset(&looked, SIGURG);
    /* Threads of the cooperative pool block the signal. */
    pthread_sigmask(SIG_UNBLOCK, &looked, NULL);
}

const char *fatal_signal_plugin_of_thread(uintptr_t thread) {
    struct sigaction action, previous;
    if (images_prepare() != 0) return NULL;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = look;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigemptyset(&action.sa_mask);
    atomic_store(&has_answered, 0);
    /* Of the signals that no process expects, SIGURG is ignored by default. */
    if (sigaction(SIGURG, &action, &previous) != 0) return NULL;
    if (pthread_kill((pthread_t)thread, SIGURG) == 0) {
        for (int turn = 0; turn < 100 && !atomic_load(&has_answered); turn++) poll(NULL, 0, 1);
    }
    sigaction(SIGURG, &previous, NULL);
    return atomic_load(&has_answered) ? atomic_load(&answer) : NULL;
}
