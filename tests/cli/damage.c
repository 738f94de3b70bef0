/* SPDX-License-Identifier: MIT */
/* damage IN OUT BYTE: a port stream with four bytes of its first block inverted, from that one of
 * the block's bytes on, and checksums that fit: a file is whole, and says what cannot be. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/crc32c.h"

enum { HEADER = 32, DESCRIPTION = 16, BLOCK = 20, MOST = 1 << 24 };

int main(int argc, char **argv)
{
    static uint8_t file[MOST];
    FILE *in = argc == 4 ? fopen(argv[1], "rb") : NULL;
    size_t size = in ? fread(file, 1, sizeof(file), in) : 0;
    if (size < HEADER + BLOCK)
        return 2;
    size_t block = HEADER + vs_get32(file + DESCRIPTION), at = strtoul(argv[3], NULL, 10);
    size_t bytes = block + BLOCK < size ? (vs_get32(file + block + 8) + 7) / 8 : 0;
    if (bytes > size - block - BLOCK || at + 4 > bytes)
        return 2;
    for (size_t i = 0; i < 4; i++)
        file[block + BLOCK + at + i] ^= 0xff;
    vs_put32(file + block + 12, vs_crc32c(0, file + block + BLOCK, bytes));
    vs_put32(file + block + 16, vs_crc32c(0, file + block, 16));
    FILE *out = fopen(argv[2], "wb");
    return !out || fwrite(file, 1, size, out) != size || fclose(out) ? 2 : 0;
}
