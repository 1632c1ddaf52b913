/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * runner.h: the system calls of a host and its runner that Swift's modules leave out, or that need macros.
 *
 * Each function returns 0 or a count, or a negative errno. runner-linux.c and runner-darwin.c have one implementation each,
 * runner-messages.c has one for both of what sends and receives.
 */
#ifndef RUNNER_H
#define RUNNER_H

#include <stdint.h>

/** The descriptor at which a runner finds its socket; on Linux, the next one is its own program, which it closes. */
#define RUNNER_SOCKET 3

/** On Linux, the descriptor of the socket through which its sandbox names its successor, and sends its listener. */
#define RUNNER_SUCCESSOR 5

/* What runner_spawn does; `step` says at which of these it failed. */
#define RUNNER_STARTS_PROGRAM 0
/** Opens /dev/null, the runner's standard input. */
#define RUNNER_OPENS_NULL 1

/**
 * Starts a runner: an already open program, with one end of a socket, a pipe as its standard output and standard error, nothing as
 * its standard input, and no other descriptor but those above. `arguments` follow the program's name, and end with a null.
 * `variable` is in its environment, `NAME=VALUE`, unless it is empty. macOS cannot run an open program: there, it is `path` that is
 * started.
 *
 * On Linux the child ends with the *thread* that calls this, so that thread must never end. Returns the child's number once it runs
 * the program, and in `handover` a descriptor for one of the two functions below, which takes it over.
 */
int32_t runner_spawn(
    int32_t program, const char *_Nonnull path, int32_t socket, int32_t output,
    const char *_Nullable const *_Nonnull arguments, const char *_Nonnull variable, int32_t *_Nonnull handover,
    int32_t *_Nonnull step
);

/**
 * Waits until a child has handed over to its successor, if it does: a child of this process in namespaces of its own, whose number
 * it writes into RUNNER_SUCCESSOR before it exits; otherwise it writes 0, or closes that. All of this happens before any plugin code is
 * loaded. After `milliseconds` both are killed, and -ETIMEDOUT is returned. Any thread may call this. Returns the number of the process
 * that continues, and in `process` a descriptor that stands for it, which `poll` finds readable once the process has ended: its pidfd, or
 * on macOS, which has no namespaces, a kqueue. In `handover` stays the descriptor from which the caller receives the listener of its
 * sandbox, if there is one, with runner_receive; -1 on macOS.
 */
int32_t runner_take_over(int32_t child, int32_t *_Nonnull handover, int32_t milliseconds, int32_t *_Nonnull process);

/** Kills a child that nothing waits for, and its successor, and reaps them. */
void runner_abandon(int32_t child, int32_t handover);

/**
 * Makes the calling process end with its parent; -ESRCH if that has already ended. On macOS it ends only once a thread waits for the
 * parent's end by runner_watch.
 */
int32_t runner_die_with(int32_t parent);

/** Names the calling thread, as in `top`: at most 15 bytes. */
void runner_set_name(const char *_Nonnull name);

/**
 * Makes a pair of connected stream sockets, both closed on exec. Since Linux 6.16, no descriptor can be sent to the first. On macOS
 * nothing that uses the first ever waits, whatever `waits` says.
 */
int32_t runner_socket_pair(int32_t *_Nonnull first, int32_t *_Nonnull second);

/**
 * Sends bytes, and with the first of them a descriptor unless it is -1. Never raises SIGPIPE. Returns how many bytes were sent;
 * -EAGAIN if `waits` is 0 and the socket is full; -ETOOMANYREFS if too many descriptors of this user are in flight.
 */
int64_t runner_send(int32_t socket, const void *_Nonnull bytes, uint64_t length, int32_t descriptor, int32_t waits);

/**
 * Receives bytes, 0 at the end, and a descriptor, closed on exec, if one came with them; else it is -1. Where there is no room for the
 * descriptor, Linux drops it, and macOS answers -EMFILE.
 */
int64_t runner_receive(int32_t socket, void *_Nonnull bytes, uint64_t capacity, int32_t *_Nonnull descriptor, int32_t waits);

/**
 * Reaps a child that has ended. Returns 1 if it has, with its exit status in `status`, or the signal that ended it in `signal`, and
 * 0 in the other; 0 if it has not ended yet, with 0 in both; -ECHILD if something else has reaped it, as the system does where SIGCHLD
 * is ignored.
 *
 * `process` and `number` are what runner_take_over returned, here and below. Linux needs only the descriptor.
 */
int32_t runner_reap(int32_t process, int32_t number, int32_t *_Nonnull status, int32_t *_Nonnull signal);

/**
 * Kills a child that runner_reap has not reaped. Linux kills it by its pidfd, never by its number, which may belong to another process
 * if something else has reaped it; macOS by its number, unless the descriptor says that it has ended.
 */
int32_t runner_kill(int32_t process, int32_t number);

/**
 * Makes memory to share: allocated, so that touching it never raises SIGBUS, and sealed, so that neither side can change its size.
 * macOS has no seals: there it is a shared memory object without a name, whose size can be set only once. Returns its descriptor.
 */
int32_t runner_memory(uint64_t size);

/**
 * Sleeps while a word of shared memory has a value, until a thread of either process wakes the word, or the time is over; with
 * UINT64_MAX nanoseconds, forever. May return early. Returns 0, or -ENOSYS or -EPERM where there is no futex.
 */
int32_t runner_wait(const void *_Nonnull word, uint32_t value, uint64_t nanoseconds);

/** Wakes the threads that sleep on a word of shared memory. Returns how many it woke, or -ENOSYS or -EPERM as above. */
int32_t runner_wake(const void *_Nonnull word);

/** How many processors this process may run on; at least 1. */
int32_t runner_processors(void);

/** Tells the processor that this thread waits for another thread's store. */
static inline void runner_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield" ::: "memory");
#endif
}

/**
 * Makes a descriptor by which a thread waits until the other end of a socket is closed, and, if `reads` is not 0, until something
 * has arrived; if it is 0, on macOS also until the parent that runner_die_with named has ended. A waiting thread does not keep the
 * socket open: if the process closes it, the other side learns of it at once.
 */
int32_t runner_watch(int32_t socket, int32_t reads);

/** Waits for what runner_watch watches for. Returns 0, or -EBADF if the descriptor has been closed. */
int32_t runner_await(int32_t watch);

/** Maps memory that another process shares; null unless it has this size, on macOS in whole pages, and cannot be resized. */
void *_Nullable runner_map(int32_t descriptor, uint64_t size);

#endif
