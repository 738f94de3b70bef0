/* SPDX-License-Identifier: MIT */
#include "trace/run_file.h"

#include <string.h>

#include "base/infile.h"

bool vs_run_file_is(const char *path)
{
    static const uint8_t magic[5] = {0x89, 'V', 'E', 'S', 'T'};
    uint8_t bytes[sizeof(magic)];
    struct vs_infile f;
    bool is = vs_infile_open(&f, path, NULL) == 0 &&
              vs_infile_bytes(&f, bytes, sizeof(bytes), NULL) == sizeof(bytes) &&
              !memcmp(bytes, magic, sizeof(magic));

    vs_infile_close(&f);
    return is;
}
