/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * prints-in-constructor: prints a megabyte to both streams when it is loaded, without a line break.
 */
#include "../fixture.h"

#include <stdio.h>

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "prints-in-constructor",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "documentation": "Prints when it is loaded."
});

__attribute__((constructor)) static void print(void) {
    for (int count = 0; count < 1 << 19; count++) {
        putchar('o');
        fputc('e', stderr);
    }
    fflush(stdout);
}

FIXTURE_PLUGIN(fixture_open)
