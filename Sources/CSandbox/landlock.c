/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Landlock: landlock(7). The numbers are defined here, since headers may be older than the kernel. Nothing compares kernel
 * versions: distributions backport Landlock, and containers refuse it.
 */
#define _GNU_SOURCE

#ifdef __linux__
#include "layers.h"
#include "places.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The same on both architectures. */
#define CALL_CREATE_RULESET 444
#define CALL_ADD_RULE 445
#define CALL_RESTRICT_SELF 446

#define VERSION 1u
#define RULE_PATH 1

/* Access to files. */
#define WRITE_FILE (1ull << 1)
#define READ_FILE (1ull << 2)
#define READ_DIRECTORY (1ull << 3)
#define MAKE_CHARACTER_DEVICE (1ull << 6)
#define MAKE_SOCKET (1ull << 9)
#define MAKE_BLOCK_DEVICE (1ull << 11)
#define REFER (1ull << 13)
#define TRUNCATE (1ull << 14)
#define IOCTL_DEVICE (1ull << 15)
#define FIRST_ACCESSES ((1ull << 13) - 1)

/** The accesses that apply to anything but a directory. */
#define OF_FILES (WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEVICE)
/** Never granted, not even where files may be made. EXECUTE is the first bit. */
#define NEVER_GIVEN (1ull | MAKE_CHARACTER_DEVICE | MAKE_SOCKET | MAKE_BLOCK_DEVICE | IOCTL_DEVICE)

/** What a ruleset restricts. The struct grew at its end with ABIs 4 and 6. */
typedef struct handled {
    uint64_t files;
    /** TCP bind and connect. */
    uint64_t network;
    /** Abstract sockets, and signals. */
    uint64_t scopes;
} handled;

typedef struct __attribute__((packed)) path_rule {
    uint64_t allowed;
    int32_t directory;
} path_rule;

static handled handled_by(long version, const sandbox_settings *settings) {
    handled handled = {FIRST_ACCESSES, 0, 0};
    if (version >= 2) handled.files |= REFER;
    if (version >= 3) handled.files |= TRUNCATE;
    if (version >= 4 && !settings->network) handled.network = 3;
    if (version >= 5) handled.files |= IOCTL_DEVICE;
    if (version >= 6) handled.scopes = 3;
    return handled;
}

static size_t size_of(long version) {
    return version >= 6 ? sizeof(handled) : version >= 4 ? offsetof(handled, scopes) : offsetof(handled, network);
}

/** A ruleset being made. */
typedef struct rules {
    const sandbox_settings *settings;
    int descriptor;
    uint64_t files;
    /** The path that failed. */
    const char *path;
    /** Where a path that is left out is reported; null if the namespaces have reported it. */
    sandbox_outcome *outcome;
} rules;

/** Leaves out a path that the settings name, so that the rest holds; fails for a path of the sandbox's own. */
static int leave_out(const rules *rules, const char *path, int is_asked, int error) {
    if (!is_asked) return error;
    if (rules->outcome != NULL) sandbox_leaves_out(rules->outcome, path);
    return 0;
}

static int add_place(void *context, const char *path, place_use use, int is_asked) {
    rules *rules = context;
    struct stat status;
    rules->path = path;
    const int place = sandbox_open_place(rules->settings, path);
    if (place < 0) return is_asked ? leave_out(rules, path, is_asked, errno) : 0;
    path_rule rule = {READ_FILE | READ_DIRECTORY, place};
    if (use == place_writes) rule.allowed = ~NEVER_GIVEN;
    if (use == place_device) rule.allowed |= WRITE_FILE;
    rule.allowed &= rules->files;
    if (fstat(place, &status) == 0 && !S_ISDIR(status.st_mode)) rule.allowed &= OF_FILES;
    const long result = syscall(CALL_ADD_RULE, rules->descriptor, RULE_PATH, &rule, 0u);
    const int error = result == 0 ? 0 : errno;
    close(place);
    return error == 0 ? 0 : leave_out(rules, path, is_asked, error);
}

void sandbox_restrict_files(const sandbox_settings *settings, int is_reported, sandbox_outcome *outcome) {
    long version = syscall(CALL_CREATE_RULESET, NULL, (size_t)0, VERSION);
    if (version < 0) {
        sandbox_fails(outcome, errno == ENOSYS ? "the kernel has none" : "the kernel refuses it", errno);
        return;
    }
    /* ABIs up to 7 are known here. Later ones restrict the same unless more is asked for. */
    if (version > 7) version = 7;
    rules rules = {.settings = settings, .descriptor = -1, .outcome = is_reported ? NULL : outcome};
    /* A kernel may report an ABI, and then support less. */
    for (; rules.descriptor < 0 && version > 0; version--) {
        const handled handled = handled_by(version, settings);
        rules.files = handled.files;
        rules.descriptor = (int)syscall(CALL_CREATE_RULESET, &handled, size_of(version), 0u);
        if (rules.descriptor >= 0) break;
    }
    if (rules.descriptor < 0) {
        sandbox_fails(outcome, "no rules can be made", errno);
        return;
    }
    int error = add_place(&rules, "/proc", place_reads, 0);
    if (error == 0) error = sandbox_each_place(settings, add_place, &rules);
    if (error != 0) {
        char text[sizeof outcome->detail];
        snprintf(text, sizeof text, "no rule for %s", rules.path);
        sandbox_fails(outcome, text, error);
    } else if (syscall(CALL_RESTRICT_SELF, rules.descriptor, 0u) != 0) {
        sandbox_fails(outcome, "the rules cannot be put on", errno);
    } else {
        sandbox_holds(outcome, (int32_t)version);
        if (version < 6) sandbox_lacks(outcome, "this ABI knows nothing of signals and abstract sockets");
    }
    close(rules.descriptor);
}
#endif
