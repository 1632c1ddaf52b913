/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * sandbox.h: a process that gives up what a plugin does not need.
 *
 * In C, because a filter of system calls, Landlock and namespaces have no other interface, and because what runs between `fork` and
 * the first thread must not need a runtime. `sandbox_enter` is called once, before the process has a second thread and before any
 * code of a plugin is mapped; `sandbox_narrow` once more, when the plugin is open. Neither can be undone.
 */
#ifndef SANDBOX_H
#define SANDBOX_H

#include <stddef.h>
#include <stdint.h>

/* The layers, as indices of outcomes. */

/** System calls that reach the kernel. */
#define SANDBOX_FILTER 0
/** Files, TCP, signals and abstract sockets. `version` is the ABI. */
#define SANDBOX_LANDLOCK 1
/** User, process, mount, network and IPC namespaces, with a view of the files and a `/proc` of its own. */
#define SANDBOX_NAMESPACES 2
/** No capability, and not root. `version` is the user. */
#define SANDBOX_IDENTITY 3
/** Resources. */
#define SANDBOX_LIMITS 4
/** No descriptor but those that are kept. */
#define SANDBOX_DESCRIPTORS 5
#define SANDBOX_LAYER_COUNT 6

/** What the plugin may do, and what is bounded. Lists of paths end with a null; every pointer is borrowed for the call. */
typedef struct sandbox_settings {
    /** Absolute paths of files and directories that may be read, with all below them. */
    const char *const _Nullable *_Nullable read;
    /** Those that may be read, changed, made and removed. */
    const char *const _Nullable *_Nullable write;
    /** Descriptors that stay open besides 0, 1 and 2, in ascending order. */
    const int32_t *_Nullable descriptors;
    int32_t descriptor_count;
    /** The process that may not be reached: the host. */
    int32_t host;
    /** In bytes; 0 for no bound. */
    uint64_t memory;
    /** 0 for no bound. */
    uint32_t threads;
    /** Whether sockets may be made, 0 or 1. */
    uint32_t network;
    /** The writing end of a pipe for the number of the process that takes this one's place in namespaces; -1 for no namespaces. */
    int32_t successor;
} sandbox_settings;

/** Whether a layer holds, and if not, why. */
typedef struct sandbox_outcome {
    int32_t holds;
    int32_t version;
    /** The errno of what failed, 0 if nothing did. */
    int32_t error;
    /** What failed, or what holds less than asked for; empty if nothing. */
    char detail[124];
} sandbox_outcome;

/** One thing that is forbidden, tried. */
typedef struct sandbox_attempt {
    /** What was tried; static. */
    const char *_Nullable name;
    /** The errno by which it was refused; 0 if it was not. */
    int32_t refusal;
} sandbox_attempt;

#define SANDBOX_ATTEMPT_COUNT 24

/**
 * Enters the sandbox: closes descriptors, gives up root, enters namespaces, restricts files, sets limits, and puts the broad
 * filter on. What fails is an outcome, never the end.
 *
 * With namespaces another process takes the place of the calling one: the caller returns in a child of its *parent*, the first
 * process of its namespace, and the calling process ends with the status 0, once it has written the child's number, an `int32_t`,
 * into the pipe `successor`. The parent reads it, awaits the first process, and has its second child from then on; it reads the end of
 * the pipe if the first one stays.
 *
 * The process ends, by SIGKILL, with the thread of the host that made it. Changing users has undone what `prctl` said of that before.
 */
void sandbox_enter(const sandbox_settings *_Nonnull settings, sandbox_outcome *_Nonnull outcomes);

/** Puts the narrow filter on all threads. */
void sandbox_narrow(const sandbox_settings *_Nonnull settings, sandbox_outcome *_Nonnull outcome);

/**
 * Tries what is forbidden, and returns the number of attempts, at most SANDBOX_ATTEMPT_COUNT. None has an effect, whether it is
 * refused or not.
 */
int32_t sandbox_prove(const sandbox_settings *_Nonnull settings, sandbox_attempt *_Nonnull attempts);

/**
 * Instead of a sandbox: refuses nothing, and prints what one would have refused, as the object `sandbox` for the file, to a descriptor
 * whenever there is more of it. Call it before this process has a second thread: one that is there already is not watched.
 * Returns 0 or an errno.
 */
int32_t sandbox_learn(const sandbox_settings *_Nonnull settings, int32_t output);

/** What an errno means; static. */
const char *_Nullable sandbox_error_text(int32_t error);

/* The filter, as a value. */

/** An instruction of the kernel's filter language: `struct sock_filter`. */
typedef struct sandbox_instruction {
    uint16_t code;
    uint8_t if_true, if_false;
    uint32_t operand;
} sandbox_instruction;

#define SANDBOX_X86_64 0
#define SANDBOX_ARM64 1
#define SANDBOX_INSTRUCTION_COUNT 2048

/** What a filter depends on. */
typedef struct sandbox_filter {
    /** SANDBOX_X86_64 or SANDBOX_ARM64. */
    int32_t architecture;
    /** The process that may signal itself. */
    int32_t process;
    /** 0 or 1 each. */
    uint32_t is_narrow, network, writes;
    /** Whether what would be refused is passed to a supervisor instead, 0 or 1. */
    uint32_t asks;
} sandbox_filter;

/** Writes the program of a filter, and returns the number of its instructions; 0 if there is no room. */
int32_t sandbox_program(const sandbox_filter *_Nonnull filter, sandbox_instruction *_Nonnull program, int32_t capacity);

/** The name of a system call by its number, or null if the table has none. */
const char *_Nullable sandbox_call_name(int32_t architecture, int32_t number);

#endif
