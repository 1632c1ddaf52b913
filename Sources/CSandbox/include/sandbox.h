/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * sandbox.h: a process gives up everything that a plugin does not need.
 *
 * In C, because a filter of system calls, Landlock and namespaces have no other interface, and because what runs between `fork`
 * and the first thread must not need a runtime. Call `sandbox_enter` once, before the process has a second thread and before any
 * plugin code is mapped; call `sandbox_narrow` once more, when the plugin is open. Neither can be undone.
 */
#ifndef SANDBOX_H
#define SANDBOX_H

#include <stddef.h>
#include <stdint.h>

/* The layers, as indices of outcomes. */

/** The system calls that reach the kernel. */
#define SANDBOX_FILTER 0
/** Files, TCP, signals and abstract sockets. `version` is the ABI of Landlock. */
#define SANDBOX_LANDLOCK 1
/** User, PID, mount, network and IPC namespaces, with a view of the files and a `/proc` of its own. */
#define SANDBOX_NAMESPACES 2
/** No capabilities, and not root. `version` is the user id. */
#define SANDBOX_IDENTITY 3
/** Resources. */
#define SANDBOX_LIMITS 4
/** No descriptors but those that are kept. */
#define SANDBOX_DESCRIPTORS 5
#define SANDBOX_LAYER_COUNT 6

/** What the plugin may do, and what is bounded. Lists of paths end with a null; every pointer is borrowed for the call. */
typedef struct sandbox_settings {
    /** Absolute paths of files and directories that may be read, with everything below them. */
    const char *const _Nullable *_Nullable read;
    /** Those that may also be written, made and removed. */
    const char *const _Nullable *_Nullable write;
    /** Those that other plugins may write, as far as paths above are below them. */
    const char *const _Nullable *_Nullable written_by_others;
    /** Descriptors that stay open besides 0, 1 and 2, in ascending order. */
    const int32_t *_Nullable descriptors;
    int32_t descriptor_count;
    /** The process that must not be reached: the host. */
    int32_t host;
    /** In bytes; 0 for no bound. */
    uint64_t memory;
    /** 0 for no bound. */
    uint32_t threads;
    /** Whether sockets may be made: 0 or 1. */
    uint32_t network;
    /**
     * A socket to the parent, for the number of the process that takes this one's place in namespaces, and for the listener; -1 for
     * neither. See sandbox_enter.
     */
    int32_t successor;
} sandbox_settings;

/** Whether a layer holds, and if not, why. */
typedef struct sandbox_outcome {
    int32_t holds;
    int32_t version;
    /** The errno of what failed; 0 if nothing did. */
    int32_t error;
    /** What failed, or what is less than asked for; empty for nothing. */
    char detail[124];
} sandbox_outcome;

/** An attempt at something forbidden. */
typedef struct sandbox_attempt {
    /** What was tried; static. */
    const char *_Nullable name;
    /** The errno by which it was refused; 0 if it was not. */
    int32_t refusal;
} sandbox_attempt;

#define SANDBOX_ATTEMPT_COUNT 24

/**
 * Enters the sandbox: closes descriptors, gives up root, enters namespaces, restricts files, sets limits, and installs the broad
 * filter. A failure is an outcome, and never ends the process.
 *
 * With namespaces, another process takes the caller's place: the function returns in a child of the caller's *parent*, which is the
 * first process of its namespace. The calling process exits with status 0 once it has written the child's number, an `int32_t`,
 * into the socket `successor`. The parent reads the number, awaits the calling process, and continues with the child. If the calling
 * process stays, the parent reads 0.
 *
 * Then the parent receives another `int32_t`: either 0 and, as SCM_RIGHTS, the listener of the filter, or the errno for which there
 * is no listener. Or it reads the end, where there is no filter. Once it has a listener, each call that is refused on purpose waits
 * until the parent has called sandbox_refuse; where it closes the listener, such calls fail with ENOSYS. The parent keeps it, since a
 * sandboxed process that had it could allow itself everything.
 *
 * SIGKILL ends the process together with the host's thread that made it. Changing users has undone what `prctl` arranged for that
 * before.
 */
void sandbox_enter(const sandbox_settings *_Nonnull settings, sandbox_outcome *_Nonnull outcomes);

/** Installs the narrow filter on all threads. */
void sandbox_narrow(const sandbox_settings *_Nonnull settings, sandbox_outcome *_Nonnull outcome);

/**
 * Tries what is forbidden, and returns the number of attempts, at most SANDBOX_ATTEMPT_COUNT. No attempt has an effect, whether it
 * is refused or not.
 */
int32_t sandbox_prove(const sandbox_settings *_Nonnull settings, sandbox_attempt *_Nonnull attempts);

/** A call that was refused. The texts are static. */
typedef struct sandbox_refusal {
    int32_t number;
    const char *_Nullable call;
    /** Why it is refused, as a clause without a subject: "starts a process". */
    const char *_Nullable reason;
    /** The setting that would allow it; null if none does. */
    const char *_Nullable setting;
} sandbox_refusal;

/**
 * Refuses the next call about which a filter asks; for the parent, whenever `poll` finds the listener readable. Returns 1; 0 if there
 * is none after all, because its thread was interrupted or has ended, or if the call is not worth a word; or -errno if the listener is of
 * no more use, and is to be closed.
 */
int32_t sandbox_refuse(int32_t listener, sandbox_refusal *_Nonnull refusal);

/**
 * Replaces the sandbox for learning: refuses nothing, and prints what a sandbox would have refused, as the object `sandbox` for the
 * file, to a descriptor whenever there is more. Call it before this process has a second thread: threads that already exist are not
 * watched. Returns 0 or an errno.
 */
int32_t sandbox_learn(const sandbox_settings *_Nonnull settings, int32_t output);

/** What an errno means; static. */
const char *_Nullable sandbox_error_text(int32_t error);

/* The filter as a value. */

/** An instruction in the kernel's filter language: `struct sock_filter`. */
typedef struct sandbox_instruction {
    uint16_t code;
    uint8_t if_true, if_false;
    uint32_t operand;
} sandbox_instruction;

#define SANDBOX_X86_64 0
#define SANDBOX_ARM64 1
#define SANDBOX_INSTRUCTION_COUNT 2048

/** About none. */
#define SANDBOX_ASKS_NONE 0
/** About those that are refused on purpose, once, by the broad filter. */
#define SANDBOX_ASKS_REFUSED 1
/** About those that do not exist, too, and those that name files: for learning. */
#define SANDBOX_ASKS_ALL 2

/** What a filter depends on. */
typedef struct sandbox_filter {
    /** SANDBOX_X86_64 or SANDBOX_ARM64. */
    int32_t architecture;
    /** The process that may signal itself. */
    int32_t process;
    /** Each 0 or 1. */
    uint32_t is_narrow, network, writes;
    /** Whether the settings name any path: 0 or 1. */
    uint32_t names;
    /** About which calls a supervisor is asked, instead of refusing them. */
    uint32_t asks;
} sandbox_filter;

/** Writes a filter's program, and returns the number of its instructions; 0 if there is no room. */
int32_t sandbox_program(const sandbox_filter *_Nonnull filter, sandbox_instruction *_Nonnull program, int32_t capacity);

/** The name of a system call, by its number; null if the table has none. */
const char *_Nullable sandbox_call_name(int32_t architecture, int32_t number);

#endif
