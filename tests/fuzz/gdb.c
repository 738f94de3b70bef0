/* SPDX-License-Identifier: MIT */
/* A hostile debugger. The first byte of an input is options, the rest what it sends:
 *
 *   bit 0 clear: bytes, as they are
 *   bit 0 set: packets, each up to a newline, that are put into frames, so that what lies behind
 *     the checksum is reached
 *   bit 1: the machine's run is broken in the middle
 *   bit 2: the program is not known
 *   bit 3: the machine is interrupted now and then
 *   bits 4 to 7: how many bytes arrive at a time; 0: all
 *
 * Whatever comes, what is sent back is frames with right sums and no byte out of place.
 *
 * `gdb --seed DIR` writes inputs of both forms. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gdb/session.h"
#include "gen/gdb_machine.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FRAMED = 1, BROKEN = 2, NAMELESS = 4, INTERRUPTED = 8 };

struct run {
    struct fake_machine fake;
    struct vs_gdb_machine machine;
    struct vs_gdb_session session;
    unsigned options, polls;
    bool over;
};

static void must(bool ok)
{
    if (!ok)
        abort();
}

/* ---- what is sent back --------------------------------------------------------------------- */

static bool is_digit(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static unsigned value(uint8_t c)
{
    return c <= '9' ? (unsigned)c - '0' : (unsigned)c - 'a' + 10;
}

static const uint8_t *check_frame(const uint8_t *p, const uint8_t *end)
{
    const uint8_t *start = ++p;
    uint8_t sum = 0;

    for (; p < end && *p != '#'; p++) {
        must(*p != '$' && *p != '*');
        must(*p != '}' || (end - p > 1 && strchr("$#*}", p[1] ^ 0x20) && p[1] != 0x20));
        sum = (uint8_t)(sum + *p);
    }
    must(p - start <= VS_GDB_PACKET_MAX);
    must(end - p >= 3 && is_digit(p[1]) && is_digit(p[2]));
    must((value(p[1]) << 4 | value(p[2])) == sum);
    return p + 3;
}

static void check_sent(const struct vs_gdb_session *s)
{
    const uint8_t *p = s->send;

    while (p && p < s->send + s->send_size) {
        must(*p == '$');
        p = check_frame(p, s->send + s->send_size);
    }
}

/* ---- what comes ---------------------------------------------------------------------------- */

static bool poll_now(void *context)
{
    struct run *r = context;

    return (r->options & INTERRUPTED) && r->polls++ % 7 == 6;
}

static void handle(struct run *r, enum vs_gdb_event event)
{
    const char *ack = vs_gdb_session_acknowledge(&r->session, event);
    int wish;

    must(!*ack || !strcmp(ack, "+") || !strcmp(ack, "-"));
    wish = vs_gdb_session_handle(&r->session, event);
    must(wish >= 0);
    check_sent(&r->session);
    must(r->fake.at <= FAKE_STEPS && r->fake.current < FAKE_THREADS);
    must(r->session.stub.general < FAKE_THREADS);
    /* Every packet has one answer, or is the last. */
    must(event != VS_GDB_PACKET || r->session.send_size || wish == VS_GDB_KILL);
    r->over = wish != VS_GDB_GO_ON;
}

static void take(struct run *r, const uint8_t *bytes, size_t size)
{
    while (size && !r->over) {
        size_t used;
        enum vs_gdb_event event = vs_gdb_reader_take(&r->session.reader, bytes, size, &used);

        must(used <= size && (used || event == VS_GDB_SPOILT));
        must(event != VS_GDB_MORE || used == size);
        must(r->session.reader.size <= VS_GDB_PACKET_MAX);
        handle(r, event);
        bytes += used;
        size -= used;
    }
}

static void take_pieces(struct run *r, const uint8_t *bytes, size_t size)
{
    size_t piece = r->options >> 4 ? r->options >> 4 : size;

    while (size && !r->over) {
        size_t n = piece < size ? piece : size;
        uint8_t *copy = malloc(n); /* of just that size */

        must(copy);
        memcpy(copy, bytes, n);
        take(r, copy, n);
        free(copy);
        bytes += n;
        size -= n;
    }
}

static void take_packets(struct run *r, const uint8_t *bytes, size_t size)
{
    const uint8_t *end = bytes + size;

    while (bytes < end && !r->over) {
        const uint8_t *newline = memchr(bytes, '\n', (size_t)(end - bytes));
        size_t n = (size_t)((newline ? newline : end) - bytes);
        struct vs_gdb_writer w = {0};

        vs_gdb_begin(&w);
        vs_gdb_put(&w, bytes, n);
        vs_gdb_end(&w);
        if (!w.error)
            take_pieces(r, w.out.data, w.out.len);
        vs_gdb_writer_fini(&w);
        bytes += newline ? n + 1 : n;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct run *r = calloc(1, sizeof(*r));

    must(r);
    r->machine = fake_machine(&r->fake);
    r->options = size ? data[0] : 0;
    r->fake.broken = r->options & BROKEN ? FAKE_STEPS / 2 : 0;
    if (r->options & NAMELESS)
        r->fake.program = NULL;
    r->fake.other = "/bin/other";
    vs_gdb_session_init(&r->session, &r->machine, poll_now, r);
    if (size > 1 && (r->options & FRAMED))
        take_packets(r, data + 1, size - 1);
    else if (size > 1)
        take_pieces(r, data + 1, size - 1);
    vs_gdb_session_fini(&r->session);
    free(r);
    return 0;
}

/* ---- seeds --------------------------------------------------------------------------------- */

static const char *const seeds[] = {
    "qSupported:multiprocess+;swbreak+;hwbreak+;exec-events+;error-message+\nQStartNoAckMode\n?",
    "?\nqC\nHg0",
    "qXfer:features:read:target.xml:0,1000\nqXfer:threads:read::0,1000\nqXfer:exec-file:read::0,40",
    "g\np20\np43\nm10000,8\nm80000,ffff\nG00\nP20=00\nM10000,1:00\nX10000,0:",
    "qfThreadInfo\nqsThreadInfo\nqThreadExtraInfo,2\nT1\nHg2\ng\nHc-1\nHc2\ns",
    "Z0,10010,4\nc\nz0,10010,4\nZ2,80000,8\nvCont;c\nbc\nbs\nZ3,80008,8\nC1e\nZ4,80000,20\nbc",
    "vCont?\nvCont;s:1;c\nvCont;S05:2\nvCont;C05:1;c\nc\nc\nbc\nS05\nc10000",
    "qRcmd,7768657265\nqRcmd,676f746f203132\nqRcmd,6d756368\nqRcmd,6661696c\nqRcmd,00",
    "QNonStop:1\nQNonStop:0\nqAttached\nqSymbol::\nqOffsets\nvMustReplyEmpty\nD;1",
    "qXfer:libraries-svr4:read::0,1000\nqXfer:auxv:read::0,100\nqGetTLSAddr:1,10,7e00",
    "bs\nbc\nk",
    "vKill;1",
};

static const char *const raw_seeds[] = {
    "+$g#67+$m10000,8#c7-\3$X}\3#d8",
    "$g#00$g#6$g#67$}#00\3",
    "$QStartNoAckMode#b0+$g#00-$c#63\3",
};

static void write_seed(const char *dir, const char *form, unsigned number, int options,
                       const char *text)
{
    char path[4096];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s.%u", dir, form, number);
    f = fopen(path, "wb");
    must(f && fputc(options, f) != EOF && fputs(text, f) >= 0 && fclose(f) == 0);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    if (*argc != 3 || strcmp((*argv)[1], "--seed"))
        return 0;
    for (unsigned i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++)
        write_seed((*argv)[2], "packets", i, FRAMED | (int)(i << 1 & 0x7e), seeds[i]);
    for (unsigned i = 0; i < sizeof(raw_seeds) / sizeof(raw_seeds[0]); i++)
        write_seed((*argv)[2], "bytes", i, (int)i << 4, raw_seeds[i]);
    _exit(0);
}
