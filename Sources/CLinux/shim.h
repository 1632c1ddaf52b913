/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <sys/xattr.h>

#ifdef __linux__
#include <linux/stat.h>
#include <sys/sysmacros.h>
#include <sys/types.h>

/** pipe(2) with flags; unistd.h declares it only for _GNU_SOURCE. */
int pipe2(int *_Nonnull ends, int flags);

/**
 * Adds a change of directory, in which the relative paths of later actions begin, too; spawn.h declares it only for _GNU_SOURCE.
 * `actions` is a posix_spawn_file_actions_t: including spawn.h here would make its types belong to this module.
 */
int posix_spawn_file_actions_addchdir_np(void *_Nonnull actions, const char *_Nonnull path);

/** Names a thread; pthread.h declares it only for _GNU_SOURCE. */
int pthread_setname_np(pthread_t thread, const char *_Nonnull name);

/** statx(2); sys/stat.h declares it only for _GNU_SOURCE. */
int statx(int directory, const char *_Nonnull path, int flags, unsigned int mask, struct statx *_Nonnull status);

/** The device of a file, as stat(2) has it. */
static inline dev_t linux_device(const struct statx *_Nonnull status) {
    return makedev(status->stx_dev_major, status->stx_dev_minor);
}
#endif
