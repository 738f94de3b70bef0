/* SPDX-License-Identifier: MIT */
/* A fuzz target without a fuzzer, for any compiler:
 *
 *   TARGET FILE...   runs it on each file, and says how many there were; what it aborts or reports
 *                    at is the last one named
 *   TARGET --seed ...   as the target has it
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));

/* In memory of its very size, so that the sanitizers see what reads beyond it. */
static int run(const char *path)
{
    FILE *f = fopen(path, "rb");
    long size = -1;
    uint8_t *data = NULL;
    if (f && fseek(f, 0, SEEK_END) == 0)
        size = ftell(f);
    if (size >= 0)
        data = malloc((size_t)size + !size);
    if (!data || fseek(f, 0, SEEK_SET) || fread(data, 1, (size_t)size, f) != (size_t)size) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(2);
    }
    fclose(f);
    printf("%s\n", path);
    fflush(stdout);
    LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
    return 1;
}

int main(int argc, char **argv)
{
    int count = 0;
    if (LLVMFuzzerInitialize)
        LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 1; i < argc; i++)
        count += run(argv[i]);
    printf("%d inputs\n", count);
    return count ? 0 : 2;
}
