/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <sys/xattr.h>

#ifdef __linux__
/** pipe(2) with flags; unistd.h declares it only for _GNU_SOURCE. */
int pipe2(int *_Nonnull ends, int flags);
#endif
