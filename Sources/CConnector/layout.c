/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * layout.c: asserts the layout of the ABI when this target is compiled.
 */
#include <connector/layout.h>
