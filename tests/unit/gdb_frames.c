/* SPDX-License-Identifier: MIT */
/* gdb's protocol: bytes, packets and the fields in them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gdb/fields.h"
#include "gdb/session.h"
#include "unit/unittest.h"

/* ---- frames: from the debugger ------------------------------------------------------------- */

/* Takes all bytes, in pieces of at most `piece`, and writes what happened as one character each,
 * packets with their data. */
static void happen(const void *bytes, size_t size, size_t piece, char *text)
{
    static const char names[] = {[VS_GDB_INTERRUPT] = 'I',
                                 [VS_GDB_REPEAT] = 'R',
                                 [VS_GDB_SPOILT] = 'S',
                                 [VS_GDB_TOO_LONG] = 'L'};
    struct vs_gdb_reader *r = calloc(1, sizeof(*r));
    const uint8_t *p = bytes, *end = p + size;

    CHECK(r);
    while (p < end) {
        size_t n = (size_t)(end - p) < piece ? (size_t)(end - p) : piece, used;
        enum vs_gdb_event e = vs_gdb_reader_take(r, p, n, &used);

        CHECK(used <= n && (e != VS_GDB_MORE || used == n));
        CHECK(used > 0 || e == VS_GDB_SPOILT);
        p += used;
        if (e == VS_GDB_PACKET)
            text += sprintf(text, "<%s>", (const char *)r->data);
        else if (e != VS_GDB_MORE)
            *text++ = names[e];
    }
    *text = 0;
    free(r);
}

static void check_happens(const char *bytes, const char *what)
{
    char text[256];

    for (size_t piece = 1; piece <= strlen(bytes); piece++) {
        happen(bytes, strlen(bytes), piece, text);
        CHECK_STR(text, what);
    }
}

TEST(takes_packets_split_anywhere)
{
    check_happens("$g#67", "<g>");
    check_happens("+$g#67+$m10,4#2e-", "<g><m10,4>R");
    check_happens("$#00", "<>");
    check_happens("noise$g#67noise", "<g>");
}

TEST(takes_an_interrupt_between_packets)
{
    check_happens("\3$g#67\3\3$?#3f", "I<g>II<?>");
}

TEST(takes_a_byte_3_within_a_packet_as_data)
{
    check_happens("$X\3#5b", "<X\3>");
}

TEST(undoes_escapes)
{
    check_happens("$a}\3b#43", "<a#b>");
    check_happens("$}]#da", "<}>");
    check_happens("$}\4}\n#08", "<$*>");
}

TEST(keeps_nul_bytes_of_a_packet)
{
    struct vs_gdb_reader *r = calloc(1, sizeof(*r));
    size_t used;

    CHECK(r);
    CHECK_EQ(vs_gdb_reader_take(r, (const uint8_t *)"$X\0\1#59", 8, &used), VS_GDB_PACKET);
    CHECK_EQ(used, 7);
    CHECK_EQ(r->size, 3);
    CHECK_MEM(r->data, "X\0\1", 4);
    free(r);
}

TEST(notices_spoilt_packets)
{
    check_happens("$g#68", "S");
    check_happens("$g#6x$g#67", "S<g>");
    check_happens("$o#6x", "S");
    check_happens("$g#$g#67", "S<g>");
    check_happens("$g#6$g#67", "S<g>");
    check_happens("$a}#de", "S"); /* the sum is right, the escape has no byte */
}

TEST(is_in_step_again_at_a_dollar)
{
    check_happens("$lost the rest$g#67", "<g>");
    check_happens("$lost}$g#67", "<g>");
}

static void put_long(char *bytes, size_t data)
{
    uint8_t sum = 0;

    bytes[0] = '$';
    memset(bytes + 1, 'a', data);
    for (size_t i = 0; i < data; i++)
        sum = (uint8_t)(sum + 'a');
    sprintf(bytes + 1 + data, "#%02x$g#67", sum);
}

TEST(takes_packets_up_to_the_limit)
{
    static char bytes[VS_GDB_PACKET_MAX + 100], text[VS_GDB_PACKET_MAX + 100];

    put_long(bytes, VS_GDB_PACKET_MAX);
    happen(bytes, strlen(bytes), 1000, text);
    CHECK_EQ(strlen(text), VS_GDB_PACKET_MAX + 5);
    put_long(bytes, VS_GDB_PACKET_MAX + 1);
    happen(bytes, strlen(bytes), 1000, text);
    CHECK_STR(text, "L<g>");
}

/* ---- frames: to the debugger --------------------------------------------------------------- */

static void check_out(struct vs_gdb_writer *w, const char *bytes)
{
    CHECK_EQ(w->error, 0);
    CHECK_EQ(w->out.len, strlen(bytes));
    CHECK_MEM(w->out.data, bytes, w->out.len);
}

TEST(writes_packets)
{
    struct vs_gdb_writer w = {0};

    vs_gdb_begin(&w);
    vs_gdb_end(&w);
    vs_gdb_begin(&w);
    vs_gdb_printf(&w, "T%02x", 5);
    vs_gdb_put_hex(&w, "\x01\xfe", 2);
    vs_gdb_end(&w);
    check_out(&w, "$#00$T0501fe#e5");
    CHECK_EQ(w.last, 4);
    vs_gdb_writer_clear(&w);
    check_out(&w, "");
    vs_gdb_writer_fini(&w);
}

TEST(escapes_what_has_a_meaning)
{
    struct vs_gdb_writer w = {0};

    vs_gdb_begin(&w);
    vs_gdb_put(&w, "a$#}*\3", 6);
    vs_gdb_end(&w);
    check_out(&w, "$a}\4}\3}]}\n\3#c6");
    vs_gdb_writer_fini(&w);
}

TEST(reads_what_it_writes)
{
    struct vs_gdb_writer w = {0};
    struct vs_gdb_reader *r = calloc(1, sizeof(*r));
    uint8_t all[256];
    size_t used;

    for (unsigned i = 0; i < 256; i++)
        all[i] = (uint8_t)i;
    CHECK(r);
    vs_gdb_begin(&w);
    vs_gdb_put(&w, all, sizeof(all));
    vs_gdb_end(&w);
    CHECK_EQ(vs_gdb_reader_take(r, w.out.data, w.out.len, &used), VS_GDB_PACKET);
    CHECK_EQ(used, w.out.len);
    CHECK_EQ(r->size, 256);
    CHECK_MEM(r->data, all, 256);
    vs_gdb_writer_fini(&w);
    free(r);
}

TEST(leaves_out_a_packet_that_is_too_long)
{
    static uint8_t bytes[VS_GDB_PACKET_MAX];
    struct vs_gdb_writer w = {0};

    memset(bytes, 'a', sizeof(bytes));
    vs_gdb_begin(&w);
    vs_gdb_put(&w, bytes, sizeof(bytes));
    vs_gdb_end(&w);
    CHECK_EQ(w.error, 0);
    vs_gdb_writer_clear(&w);
    vs_gdb_begin(&w);
    vs_gdb_end(&w);
    vs_gdb_begin(&w);
    vs_gdb_put(&w, bytes, sizeof(bytes) - 1);
    vs_gdb_put(&w, "#", 1);
    vs_gdb_end(&w);
    CHECK_EQ(w.error, -VSE_LIMIT);
    CHECK_EQ(w.out.len, 4);
    vs_gdb_begin(&w);
    vs_gdb_end(&w);
    CHECK_EQ(w.out.len, 4);
    vs_gdb_writer_fini(&w);
}

/* ---- fields -------------------------------------------------------------------------------- */

TEST(takes_numbers)
{
    const char *p = "ffffffffffffffff,0Ag";
    uint64_t a, b;

    CHECK(vs_gdb_take_pair(&p, &a, &b));
    CHECK_EQ(a, UINT64_MAX);
    CHECK_EQ(b, 10);
    CHECK_STR(p, "g");
    CHECK(!vs_gdb_take_number(&p, &a));
    p = "10000000000000000";
    CHECK(!vs_gdb_take_number(&p, &a));
}

TEST(takes_threads)
{
    const char *p = "-1;0;2;4";
    int64_t t;

    CHECK(vs_gdb_take_thread(&p, 3, &t) && t == VS_GDB_ALL_THREADS && vs_gdb_take_char(&p, ';'));
    CHECK(vs_gdb_take_thread(&p, 3, &t) && t == VS_GDB_ANY_THREAD && vs_gdb_take_char(&p, ';'));
    CHECK(vs_gdb_take_thread(&p, 3, &t) && t == 1 && vs_gdb_take_char(&p, ';'));
    CHECK(!vs_gdb_take_thread(&p, 3, &t));
    CHECK_STR(p, "4");
}

TEST(decodes_digits)
{
    uint8_t bytes[3];

    CHECK_EQ(vs_gdb_unhex("00ffA1", bytes, 3), 3);
    CHECK_MEM(bytes, "\x00\xff\xa1", 3);
    CHECK_EQ(vs_gdb_unhex("", bytes, 3), 0);
    CHECK_ERR(vs_gdb_unhex("012", bytes, 3), VSE_CORRUPT);
    CHECK_ERR(vs_gdb_unhex("0g", bytes, 3), VSE_CORRUPT);
    CHECK_ERR(vs_gdb_unhex("01020304", bytes, 3), VSE_LIMIT);
}
