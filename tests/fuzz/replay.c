/* SPDX-License-Identifier: MIT */
/* Hostile streams for a replay of a small program. The first 8 bytes of an input choose the
 * technique, its cache, the number of cores, and where to go; the rest is the stream. The program
 * has loads, stores, atomic and conditional ones, a counter and a system call that writes. It may
 * be driven anywhere, but not beyond a number of instructions; errors have a name and a text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "replay/history.h"
#include "technique/registry.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 8, CORES = 4, INSTRUCTIONS = 3000, TECHNIQUES = 8 };

static const char *const techniques[TECHNIQUES] = {
    "mlvNX_b", "mlvCF_e", "mlvFA", "mlvFA_dedicated", "mc2RT", "mlvCF_e", "mlvNX_zstd", "mc2RT_k"};

#define CODE UINT64_C(0x10000)

static const uint32_t program[] = {
    0x00053583, /*  0 ld a1,0(a0) */
    0x00b63023, /*  4 sd a1,0(a2) */
    0x00b6b5af, /*  8 amoadd.d a1,a1,(a3) */
    0x1006b72f, /* 12 lr.d a4,(a3) */
    0x18b6b7af, /* 16 sc.d a5,a1,(a3) */
    0xfe079ce3, /* 20 bnez a5,12 */
    0xc0102873, /* 24 rdtime a6 */
    0x00850513, /* 28 addi a0,a0,8 */
    0x0100100f, /* 32 fence.i: with a reserved field */
    0x00c50463, /* 36 beq a0,a2,44 */
    0xfd9ff06f, /* 40 j 0 */
    0x00100513, /* 44 li a0,1 */
    0x02000613, /* 48 li a2,32 */
    0x04000893, /* 52 li a7,64 */
    0x00000073, /* 56 ecall */
    0x00268693, /* 60 addi a3,a3,2 */
    0xfc1ff06f, /* 64 j 0 */
};

static void must(bool ok)
{
    if (!ok)
        abort();
}

static void take_output(void *context, unsigned core, uint64_t fd, const uint8_t *bytes,
                        size_t size, size_t known)
{
    uint64_t *sum = context;
    must(core < CORES && size <= 4096 && known <= size);
    *sum += fd;
    for (size_t i = 0; i < size; i++)
        *sum += bytes[i];
}

struct machine {
    struct vs_replay_config config;
    struct vs_text code;
    struct vs_loaded loaded;
    uint64_t sum;
};

static bool choose(struct machine *m, const uint8_t *head)
{
    char text[160];
    unsigned which = head[0] % TECHNIQUES;
    size_t n = (size_t)snprintf(text, sizeof(text), "%s", techniques[which]);
    if (which >= 1 && which <= 5)
        n += (size_t)snprintf(text + n, sizeof(text) - n, ":line=%u,ways=%u,size=%u",
                              8u << head[1] % 4, 1u << (head[1] >> 2) % 3,
                              (8u << head[1] % 4) << ((head[1] >> 2) % 3 + (head[1] >> 4) % 4));
    if (which == 5)
        n += (size_t)snprintf(text + n, sizeof(text) - n, ",caches=shared");
    if (which == 4)
        snprintf(text + n, sizeof(text) - n, ",rule=%s", head[2] & 0x40 ? "implied" : "all");
    m->config.setup = (struct vs_technique_setup){
        .cores = 1u + head[2] % CORES, .address_bits = 64, .timed = head[2] & 0x80};
    if (vs_technique_parse(&m->config.spec, text, NULL))
        return false;
    vs_technique_settle(&m->config.spec, m->config.setup.timed);
    return true;
}

static void load_program(struct machine *m)
{
    const struct vs_block block = {.addr = CODE,
                                   .bytes = (const uint8_t *)program,
                                   .size = sizeof(program),
                                   .insns = sizeof(program) / 4};
    must(!vs_text_add(&m->code, &block) && !vs_text_index(&m->code));
    m->config.code = &m->code;
    m->config.isa = vs_isa_find("rv64");
    const struct vs_loaded_part parts[] = {
        {CODE, sizeof(program), (const uint8_t *)program, sizeof(program), false, 0},
        {0x20000, 0x3000, (const uint8_t *)program, sizeof(program), true, 0}};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        must(!vs_loaded_add(&m->loaded, &parts[i]));
    m->config.loaded = &m->loaded;
}

/* Looking changes nothing. */
static void look(struct vs_replay *r, unsigned core)
{
    uint8_t bytes[64];
    uint64_t position = r->position, messages = r->reader.messages;
    must(vs_replay_look(r, core, CODE, bytes, sizeof(bytes)) <= sizeof(bytes));
    must(vs_replay_look(r, core, 0x20000, bytes, sizeof(bytes)) <= sizeof(bytes));
    must(r->position == position && r->reader.messages == messages);
}

/* Every answer has to be one of those that the header lists. */
static bool go_on_after(const struct vs_replay *r, int stop)
{
    must(stop >= 0 || stop == -VSE_CORRUPT || stop == -VSE_TRUNCATED);
    must(stop >= 0 || (r->diag.error == stop && r->diag.text[0]));
    must(r->position <= INSTRUCTIONS + 1);
    uint64_t sum = 0;
    for (unsigned i = 0; i < r->count; i++) {
        sum += r->cores[i].cpu->retired;
        must(vs_cpu_get(r->cores[i].cpu, 0) == 0);
    }
    must(sum == r->position);
    return stop == VS_REPLAY_BREAK || stop == VS_REPLAY_WATCH || stop == VS_REPLAY_SIGNAL;
}

static struct vs_replay_goal goal_at(uint64_t position)
{
    return (struct vs_replay_goal){
        .position = position, .core = VS_REPLAY_NONE, .retired = UINT64_MAX};
}

static void run_straight(struct vs_replay *r)
{
    const struct vs_replay_goal goal = goal_at(INSTRUCTIONS);
    while (go_on_after(r, vs_replay_run(r, &goal)))
        ;
    must(go_on_after(r, vs_replay_settle(r)) || true);
    unsigned core = r->count;
    if (r->over)
        must(!vs_replay_fatal(r, &core) || core < r->count);
}

/* There and back, and there again: the same registers. */
static void run_about(struct vs_replay *r, const uint8_t *head)
{
    struct vs_history h;
    struct vs_history_stop stop;
    uint64_t to = head[3] * 4u;
    int err = vs_history_init(&h, r, (size_t)head[4] << 12);
    must(!err || (err == -VSE_FEATURE && !r->ops->clone));
    if (err)
        return;
    h.spacing = 1 + head[4] % 64;
    int there = vs_history_goto(&h, to);
    go_on_after(r, there);
    unsigned core = head[5] % r->count;
    if (there == VS_REPLAY_REACHED)
        look(r, core);
    uint64_t position = r->position, pc = r->cores[0].cpu->pc, a1 = vs_cpu_get(r->cores[0].cpu, 11);
    uint64_t retired = r->cores[core].cpu->retired;
    int back = vs_history_step_back(&h, core, &stop);
    must(back == VS_HISTORY_BEGINNING || back >= 0 || back == -VSE_CORRUPT);
    back = vs_history_back(&h, head[5] >> 6, &stop);
    must(back >= 0 || back == -VSE_CORRUPT || back == -VSE_TRUNCATED);
    /* what was reached once is reached again; beyond, nothing says how far it is */
    int again = vs_history_goto_core(&h, core, retired);
    must(again == VS_REPLAY_REACHED || there < 0);
    must(r->cores[core].cpu->retired == retired || !retired);
    must(vs_history_goto(&h, 0) == VS_REPLAY_REACHED && r->position == 0);
    again = vs_history_goto(&h, position);
    must(r->position == position && (again == VS_REPLAY_REACHED || again == there));
    must(there != VS_REPLAY_REACHED ||
         (r->cores[0].cpu->pc == pc && vs_cpu_get(r->cores[0].cpu, 11) == a1));
    vs_history_fini(&h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct machine m = {0};
    struct vs_replay r;
    struct vs_diag diag = {0};
    if (size < HEAD || !choose(&m, data))
        return 0;
    const uint64_t breaks[] = {CODE + 4u * (data[6] % 17)};
    const struct vs_replay_watch watch = {0x20000 + data[7], 16, true, true, 0};
    load_program(&m);
    const struct vs_port_stream stream = {data + HEAD, size - HEAD, 8 * (size - HEAD)};
    m.config.streams = &stream;
    m.config.output = take_output;
    m.config.context = &m.sum;
    must(!vs_replay_init(&r, &m.config, &diag));
    if (data[7] & 1) {
        vs_replay_break(&r, breaks, 1);
        r.watches = &watch;
        r.watch_count = 1;
    }
    r.signals = data[7] & 4 ? UINT64_MAX : 0;
    if (data[7] & 2)
        run_about(&r, data);
    else
        run_straight(&r);
    vs_replay_fini(&r);
    vs_text_fini(&m.code);
    vs_loaded_fini(&m.loaded);
    return 0;
}

/* ---- seeds ---- */

/* The program as it runs with memory that is all zeros, one core after the other. */
struct maker {
    struct vs_event events[4096];
    size_t count;
    uint8_t wide[1 << 16];
    size_t wide_size;
};

static struct vs_event *add(struct maker *k, unsigned kind, unsigned core, unsigned icount)
{
    struct vs_event *e = &k->events[k->count++];
    *e = (struct vs_event){
        .kind = (uint8_t)kind, .thread = (uint16_t)core, .icount = (uint16_t)icount};
    return e;
}

static void add_access(struct maker *k, unsigned kind, unsigned core, unsigned icount,
                       uint64_t addr)
{
    struct vs_event *e = add(k, kind, core, icount);
    e->addr = kind == VS_NONDET ? 0 : addr;
    e->size = 8;
}

static void add_registers(struct maker *k, struct vs_event *e, size_t head, const uint64_t *pairs,
                          size_t count)
{
    e->value = k->wide_size;
    k->wide_size += head;
    for (size_t i = 0; i < count; i++) {
        int64_t n = vs_regs_put(k->wide, sizeof(k->wide), k->wide_size, (unsigned)pairs[2 * i],
                                &pairs[2 * i + 1], 8);
        must(n > 0);
        k->wide_size = (size_t)n;
    }
    e->size = (uint16_t)(k->wide_size - e->value);
}

static void make_core(struct maker *k, unsigned core, unsigned loops)
{
    const uint64_t data = 0x20000 + 64 * core, lock = 0x21000;
    const uint64_t begin[] = {VS_REG_PC, CODE, 10, data, 12, data + 8 * loops, 13, lock};
    const uint64_t result[] = {10, 32};
    add_registers(k, add(k, VS_THREAD_START, core, 0), 0, begin, 4);
    for (unsigned i = 0; i < loops; i++) {
        add_access(k, VS_LOAD, core, i ? 2 : 1, data + 8 * i);
        add_access(k, VS_STORE, core, 1, data + 8 * loops);
        add_access(k, VS_LOAD, core, 1, lock);
        add_access(k, VS_STORE, core, 0, lock);
        add_access(k, VS_LOAD, core, 1, lock);
        add_access(k, VS_NONDET, core, 1, 0);
        add_access(k, VS_STORE, core, 0, lock);
        add_access(k, VS_NONDET, core, 2, 0);
        add(k, VS_COUNT, core, 3); /* up to the branch */
    }
    add_registers(k, add(k, VS_SYSCALL, core, 4), sizeof(struct vs_syscall_head), result, 1);
}

static void encode(const struct machine *m, const struct maker *k, struct vs_buf *bits)
{
    const struct vs_encoder_ops *ops = m->config.spec.technique->encoder;
    static uint64_t cycles[4096];
    const struct vs_batch batch = {.events = k->events,
                                   .cycles = cycles,
                                   .wide = k->wide,
                                   .wide_size = k->wide_size,
                                   .count = k->count};
    struct vs_port_shape shape;
    struct vs_port_writer w;
    void *e;
    for (size_t i = 0; i < k->count; i++)
        cycles[i] = 3 * i;
    vs_technique_shape(&m->config.spec, &m->config.setup, &shape);
    must(!vs_port_writer_init(&w, &shape, vs_port_to_buf, bits));
    must(!ops->open(&e, &(struct vs_technique_context){.params = m->config.spec.params,
                                                       .setup = &m->config.setup,
                                                       .port = &w}));
    must(!ops->consume(e, &(struct vs_slice){.events = &batch}) && !vs_encoder_finish(ops, e) &&
         vs_port_finish(&w) > 0);
    ops->close(e);
    vs_port_writer_fini(&w);
}

static void make_seed(const char *dir, const uint8_t *head)
{
    struct maker *k = calloc(1, sizeof(*k));
    struct machine m = {0};
    struct vs_buf bits = {0};
    char path[4096];
    must(k && choose(&m, head));
    for (unsigned core = 0; core < m.config.setup.cores; core++)
        make_core(k, core, 3 + core);
    encode(&m, k, &bits);
    snprintf(path, sizeof(path), "%s/stream.%u.%u.%u", dir, head[0], head[2], head[7]);
    FILE *f = fopen(path, "wb");
    must(f && fwrite(head, 1, HEAD, f) == HEAD);
    must(fwrite(bits.data, 1, bits.len, f) == bits.len && fclose(f) == 0);
    vs_buf_fini(&bits);
    free(k);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    if (*argc != 3 || strcmp((*argv)[1], "--seed"))
        return 0;
    for (unsigned i = 0; i < 8 * TECHNIQUES; i++)
        make_seed((*argv)[2],
                  (const uint8_t[HEAD]){(uint8_t)(i % TECHNIQUES), (uint8_t)(i * 5),
                                        (uint8_t)(i / TECHNIQUES % 4 | (i % 3 ? 0 : 0x80)),
                                        (uint8_t)(i * 7), (uint8_t)(i * 11), (uint8_t)(i + 1),
                                        (uint8_t)i, (uint8_t)(i / TECHNIQUES)});
    _exit(0);
}
