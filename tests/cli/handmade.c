/* SPDX-License-Identifier: MIT */
/* handmade FILE HOW: a small run whose every figure is known; the scripts beside this file have
 * them. HOW: "whole", or with one fault: "word" (a load of 8 bytes differs), "wide" (one of 100
 * bytes), "loads-only" (stores are not recorded), "fresh" (no load is of bytes seen before). */
#include <stdio.h>
#include <string.h>

#include "vestige/run.h"

enum {
    START = 0x401000,
    WORK = 0x401100,
    LIBRARY = 0x7f001000,
    HANDLER = 0x401200,
    JITTED = 0x9000,
    DATA = 0x600000
};

static int put(struct vs_writer *w, struct vs_event e, const void *bytes)
{
    struct vs_batch b = {.events = &e, .count = 1};

    if (bytes && e.size > 8) {
        b.wide = bytes;
        b.wide_size = e.size;
    } else if (bytes) {
        memcpy(&e.value, bytes, e.size);
    }
    return vs_writer_put(w, &b);
}

static int put_signal(struct vs_writer *w, uint64_t cause)
{
    uint8_t regs[16];
    int64_t n = vs_regs_put(regs, sizeof(regs), 0, VS_REG_CAUSE, &cause, sizeof(cause));

    return put(w,
               (struct vs_event){.kind = VS_EXCEPTION,
                                 .pc = WORK + 0x40,
                                 .addr = HANDLER,
                                 .size = (uint16_t)n,
                                 .icount = 1},
               regs) ||
           put(w,
               (struct vs_event){
                   .kind = VS_EXCEPTION_RET, .pc = HANDLER + 8, .addr = WORK + 0x40, .icount = 3},
               NULL);
}

static int put_syscall(struct vs_writer *w, uint64_t number)
{
    struct vs_syscall_head head = {.result = 0};

    return put(w,
               (struct vs_event){.kind = VS_SYSCALL,
                                 .pc = LIBRARY + 0x10,
                                 .addr = number,
                                 .size = sizeof(head),
                                 .icount = 2},
               &head);
}

static int put_branch(struct vs_writer *w, uint64_t pc, uint64_t target, unsigned flags,
                      unsigned icount)
{
    return put(w,
               (struct vs_event){.kind = VS_BRANCH,
                                 .pc = pc,
                                 .addr = target,
                                 .size = 5,
                                 .flags = (uint8_t)(flags | VS_BR_TAKEN),
                                 .icount = (uint16_t)icount},
               NULL);
}

/* A rep movsq of 4 iterations, from 8 * i to 0x100 + 8 * i; then what it copied is loaded. */
static int put_copy(struct vs_writer *w, bool stores)
{
    int e = 0;

    for (uint64_t i = 0; i < 4 && !e; i++) {
        struct vs_event load = {.kind = VS_LOAD,
                                .pc = WORK + 0x20,
                                .addr = DATA + 8 * i,
                                .size = 8,
                                .icount = i ? 0 : 4,
                                .flags = i ? VS_MEM_REPEAT : 0};
        struct vs_event store = load;

        store.kind = VS_STORE;
        store.addr += 0x100;
        store.icount = 0;
        e = put(w, load, &i) || (stores && put(w, store, &i));
    }
    return e;
}

static int put_loads(struct vs_writer *w, const char *how)
{
    struct vs_event e = {
        .kind = VS_LOAD, .pc = WORK + 0x28, .addr = DATA + 0x110, .size = 8, .icount = 1};
    uint64_t value = 2;
    uint8_t wide[100] = {0};

    if (strcmp(how, "word") == 0)
        value = 0x33000002;
    int error = put(w, e, &value);
    e.kind = VS_EXTERNAL;
    e.pc = 0;
    e.addr = DATA + 0xff0;
    e.size = sizeof(wide);
    e.icount = 0;
    if (!error)
        error = put(w, e, wide);
    if (strcmp(how, "wide") == 0)
        wide[50] = 0xee;
    e.kind = VS_LOAD;
    e.pc = WORK + 0x30;
    e.icount = 1;
    return error ? error : put(w, e, wide);
}

static int put_rest(struct vs_writer *w)
{
    const unsigned call = VS_BR_CALL, ret = VS_BR_INDIRECT | VS_BR_RETURN;

    return put_signal(w, 11) || put_signal(w, 10) || put_signal(w, 11) ||
           put_branch(w, WORK + 0x50, LIBRARY, call, 2) || put_syscall(w, 1) || put_syscall(w, 1) ||
           put_syscall(w, 9999) || put_branch(w, LIBRARY + 0x20, WORK + 0x55, ret, 4) ||
           put_branch(w, WORK + 0x60, JITTED, VS_BR_INDIRECT, 2) ||
           put(w, (struct vs_event){.kind = VS_COUNT, .icount = 30}, NULL) ||
           put(w, (struct vs_event){.kind = VS_THREAD_EXIT, .thread = 1, .icount = 7}, NULL) ||
           put(w, (struct vs_event){.kind = VS_THREAD_EXIT}, NULL);
}

static int put_events(struct vs_writer *w, const char *how)
{
    uint64_t first = 5;
    int e = put(w, (struct vs_event){.kind = VS_THREAD_START, .pc = START, .addr = 100}, NULL) ||
            put_branch(w, START + 0x10, WORK, VS_BR_CALL, 5);

    if (!e && strcmp(how, "fresh") == 0)
        return put(w,
                   (struct vs_event){
                       .kind = VS_LOAD, .pc = WORK + 4, .addr = DATA, .size = 8, .icount = 1},
                   &first);
    return e || put_copy(w, strcmp(how, "loads-only") != 0) || put_loads(w, how) || put_rest(w);
}

int main(int argc, char **argv)
{
    const struct vs_image images[] = {
        {.path = "/opt/program", .base = 0, .start = 0x400000, .length = 0x2000},
        {.path = "/opt/unused.so", .base = 0x7e000000, .start = 0x7e000000, .length = 0x1000},
        {.path = "/opt/library.so", .base = 0x7f000000, .start = 0x7f000000, .length = 0x2000},
    };
    struct vs_writer_options o = {.features = VS_RUN_LOADS | VS_RUN_STORES};
    struct vs_writer *w;

    if (argc != 3)
        return 2;
    if (strcmp(argv[2], "loads-only") == 0)
        o.features = VS_RUN_LOADS;
    if (vs_writer_open(&w, argv[1], &o, NULL))
        return 1;
    int e = vs_writer_meta(w, "isa", strcmp(argv[2], "foreign") ? "x86-64" : "vax");
    for (int i = 0; i < 3 && !e; i++)
        e = vs_writer_image(w, &images[i]) != i;
    if (!e)
        e = put_events(w, argv[2]);
    if (e) {
        fprintf(stderr, "handmade: %s\n", vs_writer_diag(w)->text);
        vs_writer_abort(w);
        return 1;
    }
    return vs_writer_seal(w, NULL) != 0;
}
