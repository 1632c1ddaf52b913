/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A process that enters the sandbox and tries one thing. Prints each layer, then what happened.
 *
 * sandboxed [OPTION]... ACT [ARGUMENT] [then ACT [ARGUMENT]]...
 *   perform CALL [ARGUMENT]...   an act: a system call by its name, with numbers, "fd:" and a path that is opened for reading, and
 *                              texts, with zeros behind them
 *   read-in-linker PATH          an act: reads while it holds a lock of the linker's; SIGALRM if that hangs
 *   --read PATH, --write PATH, --others-write PATH, --memory BYTES, --threads COUNT, --network, --successor DESCRIPTOR,
 *   --keep DESCRIPTOR
 *   --without LAYER              a filter in front, as of a container or an older kernel: see absent.h
 *   --broad                      without the second filter
 *   --learn                      without any sandbox, and with a thread that prints what one would refuse
 *   --outside                    without any sandbox, to see that an act does something
 */
#define _GNU_SOURCE

#include <sandbox.h>

#include "absent.h"
#include "acts.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void print_outcome(const char *name, const sandbox_outcome *outcome) {
    printf("%s %d %d %d %s\n", name, outcome->holds, outcome->version, outcome->error, outcome->detail);
}

/** A function for dl_iterate_phdr. */
static int read_in_linker(struct dl_phdr_info *info, size_t size, void *path) {
    (void)info, (void)size;
    alarm(10);
    act("read", path, 0);
    alarm(0);
    return 0;
}

/** Makes a call by its name. */
static int perform(char **words) {
    static char texts[6][512];
    long arguments[6] = {0}, number = 0;
#ifdef __x86_64__
    const int32_t architecture = SANDBOX_X86_64;
#else
    const int32_t architecture = SANDBOX_ARM64;
#endif
    if (*words == NULL) return -1;
    for (const char *name = NULL; name == NULL || strcmp(name, *words) != 0; number++) {
        if (number == 512) return -1;
        name = sandbox_call_name(architecture, (int32_t)number);
    }
    for (int index = 0; index < 6 && words[index + 1] != NULL; index++) {
        char *end, *word = words[index + 1];
        const int is_file = strncmp(word, "fd:", 3) == 0;
        arguments[index] = is_file ? open(word + 3, O_RDONLY | O_CLOEXEC) : strtol(word, &end, 0);
        if (is_file || (*word != 0 && *end == 0)) continue;
        strncpy(texts[index], word, sizeof texts[index] - 1);
        arguments[index] = (long)texts[index];
    }
    const long result =
        syscall(number - 1, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
    return result < 0 ? errno : 0;
}

int main(int argc, char **argv) {
    static const char *const names[] = {"filter", "landlock", "namespaces", "identity", "limits", "descriptors"};
    const char *read[16] = {0}, *write[16] = {0}, *others[16] = {0};
    int32_t kept[16], reads = 0, writes = 0, other_writes = 0, is_broad = 0, is_outside = 0, learns = 0, next = 1;
    sandbox_settings settings = {
        .read = read, .write = write, .written_by_others = others, .descriptors = kept, .host = (int32_t)getppid(), .successor = -1,
    };
    sandbox_outcome outcomes[SANDBOX_LAYER_COUNT] = {0};
    for (; next < argc && strncmp(argv[next], "--", 2) == 0; next++) {
        const char *option = argv[next] + 2;
        if (strcmp(option, "network") == 0) settings.network = 1;
        else if (strcmp(option, "broad") == 0) is_broad = 1;
        else if (strcmp(option, "outside") == 0) is_outside = 1;
        else if (strcmp(option, "learn") == 0) learns = is_outside = 1;
        else if (++next == argc || reads == 15 || writes == 15 || other_writes == 15) return 64;
        else if (strcmp(option, "read") == 0) read[reads++] = argv[next];
        else if (strcmp(option, "write") == 0) write[writes++] = argv[next];
        else if (strcmp(option, "others-write") == 0) others[other_writes++] = argv[next];
        else if (strcmp(option, "memory") == 0) settings.memory = strtoull(argv[next], NULL, 10);
        else if (strcmp(option, "threads") == 0) settings.threads = (uint32_t)atoi(argv[next]);
        else if (strcmp(option, "successor") == 0) settings.successor = atoi(argv[next]);
        else if (strcmp(option, "keep") == 0) kept[settings.descriptor_count++] = atoi(argv[next]);
        else if (strcmp(option, "without") != 0 || !lack(argv[next])) return 64;
    }
    if (next == argc) return 64;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!is_outside) {
        sandbox_enter(&settings, outcomes);
        if (!is_broad) sandbox_narrow(&settings, &outcomes[SANDBOX_FILTER]);
    }
    if (learns && (errno = sandbox_learn(&settings, 1)) != 0) perror("sandbox_learn");
    for (int layer = 0; layer < SANDBOX_LAYER_COUNT; layer++) print_outcome(names[layer], &outcomes[layer]);
    if (strcmp(argv[next], "prove") == 0) {
        sandbox_attempt attempts[SANDBOX_ATTEMPT_COUNT];
        const int32_t count = sandbox_prove(&settings, attempts);
        for (int32_t index = 0; index < count; index++) printf("%s: %d\n", attempts[index].name, attempts[index].refusal);
        return 0;
    }
    while (next < argc) {
        char **words = &argv[next];
        for (; next < argc && strcmp(argv[next], "then") != 0; next++) {}
        if (next < argc) argv[next++] = NULL;
        if (*words == NULL) return 64;
        int result;
        if (strcmp(*words, "perform") == 0) result = perform(words + 1);
        else if (strcmp(*words, "read-in-linker") == 0) result = dl_iterate_phdr(read_in_linker, words[1]);
        else result = act(*words, words[1], settings.host);
        printf("act: %d\n", result);
    }
    return 0;
}
