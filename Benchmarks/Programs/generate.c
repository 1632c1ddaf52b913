/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * generate TEMPLATE FOLDER COUNT: writes COUNT copies of a plugin, each with an id and bytes of its own, and a
 * connectors.json that opens a gate with each.
 *
 * A copy differs from the template in the four digits after "quick-", wherever these stand.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char marker[] = "quick-0000";

static char *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) return NULL;
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*size);
    if (bytes != NULL && fread(bytes, 1, *size, file) != *size) {
        free(bytes);
        bytes = NULL;
    }
    fclose(file);
    return bytes;
}

static void number_copy(char *bytes, size_t size, int number) {
    const size_t prefix = sizeof(marker) - 1 - 4;
    for (size_t i = 0; i + prefix + 4 <= size; i++) {
        if (memcmp(bytes + i, marker, prefix) != 0) continue;
        char digits[16];
        snprintf(digits, sizeof digits, "%04d", number % 10000);
        memcpy(bytes + i + prefix, digits, 4);
    }
}

static int write_file(const char *path, const char *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    if (file == NULL) return 0;
    int is_written = fwrite(bytes, 1, size, file) == size;
    return fclose(file) == 0 && is_written;
}

int main(int count, char **arguments) {
    if (count != 4) return 64;
    size_t size;
    char *bytes = read_file(arguments[1], &size);
    if (bytes == NULL) {
        perror(arguments[1]);
        return 1;
    }
    const char *folder = arguments[2];
    const int copies = atoi(arguments[3]);
    char path[4096];
    mkdir(folder, 0755);
    snprintf(path, sizeof path, "%s/plugins", folder);
    mkdir(path, 0755);
    snprintf(path, sizeof path, "%s/connectors.json", folder);
    FILE *configuration = fopen(path, "w");
    if (configuration == NULL) {
        perror(path);
        return 1;
    }
    fputs("{\n  \"version\": 1,\n  \"plugins\": [\"plugins\"],\n  \"connectors\": [\n", configuration);
    for (int number = 0; number < copies; number++) {
        number_copy(bytes, size, number);
        snprintf(path, sizeof path, "%s/plugins/libquick-%04d.so", folder, number);
        if (!write_file(path, bytes, size)) {
            perror(path);
            return 1;
        }
        fprintf(configuration,
                "    { \"name\": \"gate-%04d\", \"plugin\": \"quick-%04d\", \"config\": { \"key\": \"k-%04d\" } }%s\n",
                number, number, number, number + 1 < copies ? "," : "");
    }
    fputs("  ]\n}\n", configuration);
    fclose(configuration);
    free(bytes);
    return 0;
}
