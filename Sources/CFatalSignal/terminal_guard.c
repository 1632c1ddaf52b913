/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <terminal_guard.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

/* Private modes of xterm, which terminals that do not know them ignore: 1049 the alternate screen, 25 the cursor, 7 wrapping at
 * the margin, 1000 and 1006 the mouse, 2004 pasted text, 2026 updates as a whole. */
static const char entering[] = "\033[?1049h\033[?25l\033[?7l\033[?1000h\033[?1006h\033[?2004h\033[H\033[2J";
/* CAN comes first: it ends a sequence that another thread has half written. */
static const char leaving[] = "\030\033[?2026l\033[0m\033[?2004l\033[?1006l\033[?1000l\033[?7h\033[?25h\033[?1049l";

/* The signals whose default action ends the process. */
static const int endings[] = {
    SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGALRM, SIGTERM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGPROF, SIGXCPU, SIGXFSZ,
    SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGABRT,
#ifdef __linux__
    SIGIO, SIGPWR, SIGSTKFLT,
#endif
};
#define ENDING_COUNT (sizeof endings / sizeof *endings)

/* Written before `state` becomes TAKEN, and read after it has. */
static struct termios before;
static int taken_input, taken_output, kept_output, kept_error;
/* The process that took the terminal: a forked one shares the terminal with it, and must not give it back. */
static pid_t owner;
enum { FREE, TAKEN, LEAVING };
static atomic_int state;

/* The thread that writes to the terminal; 0 for none. A writer sets it before it reads `state`; whoever gives the terminal back
 * changes `state` before reading this. So either the writer sees that the terminal is given back, or the other sees the writer. */
static atomic_uintptr_t writer;

static void write_whole(int descriptor, const char *text) {
    size_t length = strlen(text), done = 0;
    while (done < length) {
        /* The terminal may be abandoned, and what it was sent may fill its buffer. */
        struct pollfd writable = {.fd = descriptor, .events = POLLOUT};
        if (poll(&writable, 1, 2000) == 0) return;
        ssize_t count = write(descriptor, text + done, length - done);
        if (count > 0) {
            done += (size_t)count;
        } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
            return;
        }
    }
}

/* Sets the modes, even from a background process, which would otherwise be stopped for it. */
static int set_modes(int descriptor, const struct termios *modes) {
    sigset_t stop, previous;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTTOU);
    pthread_sigmask(SIG_BLOCK, &stop, &previous);
    int result = tcsetattr(descriptor, TCSANOW, modes);
    pthread_sigmask(SIG_SETMASK, &previous, NULL);
    return result;
}

/* Gives the terminal back before the default action of a signal ends the process. */
static void leave_and_end(int number) {
    terminal_guard_leave();
    signal(number, SIG_DFL);
    /* Pending until this handler returns. */
    raise(number);
}

/* Replaces one action of the signals that end the process by another; leaves signals alone that have any other action. */
static void replace_action(void (*old)(int), void (*new)(int)) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = new;
    action.sa_flags = SA_ONSTACK;
    sigfillset(&action.sa_mask);
    for (size_t index = 0; index < ENDING_COUNT; index++) {
        struct sigaction current;
        if (sigaction(endings[index], NULL, &current) != 0 || (current.sa_flags & SA_SIGINFO) != 0) continue;
        if (current.sa_handler == old) sigaction(endings[index], &action, NULL);
    }
}

int32_t terminal_guard_enter(int32_t input, int32_t output, int32_t messages) {
    static atomic_flag is_registered = ATOMIC_FLAG_INIT;
    if (atomic_load(&state) != FREE) return 0;
    if (tcgetattr(input, &before) != 0) return errno;
    if ((kept_output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)) < 0) return errno;
    if ((kept_error = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)) < 0) {
        int error = errno;
        close(kept_output);
        return error;
    }
    struct termios raw = before;
    raw.c_iflag &= ~(tcflag_t)(BRKINT | ICRNL | INPCK | ISTRIP | IXON);
    raw.c_lflag &= ~(tcflag_t)(ECHO | ICANON | IEXTEN | ISIG);
    raw.c_cflag |= CS8;
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    if (set_modes(input, &raw) != 0) {
        int error = errno;
        close(kept_output);
        close(kept_error);
        return error;
    }
    taken_input = input;
    taken_output = output;
    dup2(messages, STDOUT_FILENO);
    dup2(messages, STDERR_FILENO);
    owner = getpid();
    atomic_store(&state, TAKEN);
    if (!atomic_flag_test_and_set(&is_registered)) atexit(terminal_guard_leave);
    /* The first process of a PID namespace has no default actions: these signals do not end it. */
    if (owner != 1) replace_action(SIG_DFL, leave_and_end);
    write_whole(output, entering);
    return 0;
}

ssize_t terminal_guard_write(const void *bytes, size_t length) {
    atomic_store(&writer, (uintptr_t)pthread_self());
    ssize_t count = atomic_load(&state) == TAKEN ? write(taken_output, bytes, length) : (ssize_t)length;
    atomic_store(&writer, 0);
    return count;
}

/* Waits for another thread's write; this thread's own write cannot continue before the signal handler returns. */
static void wait_for_writer(void) {
    for (int turn = 0; turn < 100; turn++) {
        uintptr_t thread = atomic_load(&writer);
        if (thread == 0 || thread == (uintptr_t)pthread_self()) return;
        poll(NULL, 0, 1);
    }
}

void terminal_guard_leave(void) {
    int error = errno, taken = TAKEN;
    sigset_t all, previous;
    if (atomic_load(&state) == FREE || getpid() != owner) return;
    /* A signal that interrupted this thread would end the process halfway. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &previous);
    if (atomic_compare_exchange_strong(&state, &taken, LEAVING)) {
        wait_for_writer();
        /* A terminal that takes no output must not stay in these modes. */
        set_modes(taken_input, &before);
        write_whole(taken_output, leaving);
        dup2(kept_output, STDOUT_FILENO);
        dup2(kept_error, STDERR_FILENO);
        close(kept_output);
        close(kept_error);
        replace_action(leave_and_end, SIG_DFL);
        atomic_store(&state, FREE);
    }
    /* Another thread may be giving it back, which the end of the process must not cut short. */
    for (int turn = 0; turn < 100 && atomic_load(&state) == LEAVING; turn++) poll(NULL, 0, 1);
    pthread_sigmask(SIG_SETMASK, &previous, NULL);
    errno = error;
}
