/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * decimal-comma.h: printf as in a process whose locale separates decimals with a comma, without needing such a locale.
 * For the compiler's -include.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int snprintf_with_comma(char *text, size_t size, const char *format, ...) {
    va_list arguments;
    char *point;
    int count;
    va_start(arguments, format);
    count = vsnprintf(text, size, format, arguments);
    va_end(arguments);
    point = strchr(format, 'g') == NULL ? NULL : strchr(text, '.');
    if (point != NULL) *point = ',';
    return count;
}

#define snprintf snprintf_with_comma
