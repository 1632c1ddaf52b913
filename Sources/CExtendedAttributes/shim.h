/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <sys/xattr.h>
