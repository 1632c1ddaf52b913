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
#include <string.h>
#include <termios.h>
#include <unistd.h>

/* Private modes of xterm, which terminals ignore that do not know them: 1049 the alternate screen, 25 the cursor, 7 wrapping at the
 * margin, 1000 and 1006 the mouse, 2004 pasted text, 2026 updates as a whole. */
static const char entering[] = "\033[?1049h\033[?25l\033[?7l\033[?1000h\033[?1006h\033[?2004h\033[H\033[2J";
/* CAN first: it ends a sequence that another thread has half written. */
static const char leaving[] = "\030\033[?2026l\033[0m\033[?2004l\033[?1006l\033[?1000l\033[?7h\033[?25h\033[?1049l";

/* Written before `is_taken`, and read after it. */
static struct termios before;
static int taken_input, taken_output, kept_output, kept_error;
static atomic_int is_taken;

/* The thread that writes to the terminal; 0 for none. Set before `is_taken` is read, as that is cleared before this is read: either
 * the write sees that the terminal is given back, or who gives it back sees the write. */
static atomic_uintptr_t writer;

static void write_whole(int descriptor, const char *text) {
    size_t length = strlen(text), done = 0;
    while (done < length) {
        ssize_t count = write(descriptor, text + done, length - done);
        if (count > 0) {
            done += (size_t)count;
        } else if (count == 0 || errno != EINTR) {
            return;
        }
    }
}

/* Sets the modes, also from a process in the background, which would be stopped for it otherwise. */
static int set_modes(int descriptor, const struct termios *modes) {
    sigset_t stop, previous;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTTOU);
    pthread_sigmask(SIG_BLOCK, &stop, &previous);
    int result = tcsetattr(descriptor, TCSANOW, modes);
    pthread_sigmask(SIG_SETMASK, &previous, NULL);
    return result;
}

int32_t terminal_guard_enter(int32_t input, int32_t output, int32_t messages) {
    if (atomic_load(&is_taken)) return 0;
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
    atomic_store(&is_taken, 1);
    write_whole(output, entering);
    return 0;
}

ssize_t terminal_guard_write(const void *bytes, size_t length) {
    atomic_store(&writer, (uintptr_t)pthread_self());
    ssize_t count = atomic_load(&is_taken) ? write(taken_output, bytes, length) : (ssize_t)length;
    atomic_store(&writer, 0);
    return count;
}

/* Waits for another thread's write; one of this thread goes on after the handler of a signal only. */
static void wait_for_writer(void) {
    for (int turn = 0; turn < 100; turn++) {
        uintptr_t thread = atomic_load(&writer);
        if (thread == 0 || thread == (uintptr_t)pthread_self()) return;
        poll(NULL, 0, 1);
    }
}

void terminal_guard_leave(void) {
    int error = errno;
    if (atomic_exchange(&is_taken, 0)) {
        wait_for_writer();
        write_whole(taken_output, leaving);
        set_modes(taken_input, &before);
        dup2(kept_output, STDOUT_FILENO);
        dup2(kept_error, STDERR_FILENO);
        close(kept_output);
        close(kept_error);
    }
    errno = error;
}
