/* SPDX-License-Identifier: MIT */
/* usage: playback FILE POSITION...   Runs a program again from its stream, or from a recorded run,
 * and prints for each position where its cores are, their stack pointers, and what lies there. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <vestige/vestige.h>

static uint64_t number(const uint8_t *bytes, int size)
{
    uint64_t value = 0;
    for (int i = 0; i < size && i < 8; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

static void print_core(struct vs_playback *p, unsigned core)
{
    struct vs_playback_core c;
    uint8_t bytes[64];
    c.size = sizeof(c);
    if (vs_playback_core(p, core, &c) < 0 || !c.started)
        return;
    /* Not every instruction set calls it sp. */
    int size = vs_playback_register(p, core, "sp", bytes, sizeof(bytes));
    if (size < 0)
        size = vs_playback_register(p, core, "rsp", bytes, sizeof(bytes));
    uint64_t sp = size > 0 ? number(bytes, size) : 0;
    printf("  core %u: %" PRIu64 " instructions, pc %" PRIx64 ", sp %" PRIx64, core, c.retired,
           c.pc, sp);
    if (vs_playback_memory(p, core, sp, bytes, 8) == 8)
        printf(", there %016" PRIx64, number(bytes, 8));
    printf("%s\n", c.ended ? ", ended" : "");
}

static int show(struct vs_playback *p, uint64_t position, struct vs_diag *diag)
{
    struct vs_playback_state s;
    int error = vs_playback_goto(p, position, diag);
    s.size = sizeof(s);
    if ((error && error != -VSE_END) || vs_playback_tell(p, &s) < 0)
        return error;
    printf("position %" PRIu64 "%s\n", s.position, s.over ? ", the end" : "");
    for (unsigned core = 0; core < s.cores; core++)
        print_core(p, core);
    return 0;
}

int main(int argc, char **argv)
{
    struct vs_playback *p;
    struct vs_diag diag;
    int error;
    if (argc < 3) {
        fprintf(stderr, "usage: playback FILE POSITION...\n");
        return 2;
    }
    error = vs_playback_open(&p, argv[1], NULL, &diag);
    for (int i = 2; i < argc && !error; i++)
        error = show(p, strtoull(argv[i], NULL, 0), &diag);
    if (error)
        fprintf(stderr, "playback: %s: %s\n", argv[1], diag.text);
    vs_playback_close(p);
    return error ? 1 : 0;
}
