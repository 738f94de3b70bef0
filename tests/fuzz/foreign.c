/* SPDX-License-Identifier: MIT */
/* Streams from elsewhere. The first byte says what an input is: 0, a description as 'encode --raw'
 * writes it; 1, a file of perf; else a stream of Intel PT for a small program, of which a run is
 * made. Nothing may crash or run on for ever, and every error has a text.
 *
 *   --seed DIR   writes some of each */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "front/raw_about.h"
#include "port/perf_data.h"
#include "study/flow_run.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok)
        abort();
}

enum { CODE = 0x1000, LIMIT = 20000 };

/* 1000 test %eax,%eax; 1002 je 1000; 1004 call 100d; 1009 syscall; 100b jmp 1000; 100d rep movsb;
 * 100f jmp *%rax; 1011 ret */
static const uint8_t program[] = {0x85, 0xc0, 0x74, 0xfc, 0xe8, 0x04, 0x00, 0x00, 0x00,
                                  0x0f, 0x05, 0xeb, 0xf3, 0xf3, 0xa4, 0xff, 0xe0, 0xc3};

static void take_about(const uint8_t *data, size_t size)
{
    struct vs_diag diag = {0};
    struct raw_about a;
    int e = raw_about_parse(&a, (const char *)data, size, &diag);
    must(e == 0 || (e == -VSE_CORRUPT && diag.error == e && diag.text[0]));
    must(e || (a.core_count && a.technique && a.isa));
    for (size_t i = 0; !e && i < a.core_count; i++)
        must(a.cores[i].file && !strchr(a.cores[i].file, '/'));
    raw_about_fini(&a);
}

static void take_perf(const uint8_t *data, size_t size)
{
    struct vs_diag diag = {0};
    struct vs_perf_data p;
    size_t sum = 0;
    int e = vs_perf_data_parse(&p, data, size, &diag);
    must(e == 0 || (diag.error == e && diag.text[0]));
    for (size_t i = 0; i < p.stream_count; i++)
        sum += p.streams[i].size;
    must(sum <= size && (e || p.stream_count));
    vs_perf_data_fini(&p);
}

static void take_stream(const uint8_t *data, size_t size, bool any)
{
    const struct vs_port_stream stream = {data, size, 8 * (uint64_t)size};
    char path[] = "/tmp/foreign.XXXXXX";
    struct vs_technique_spec spec;
    struct vs_text code = {0};
    struct vs_diag diag = {0};
    struct vs_flow_run_result result;
    struct vs_writer *writer;
    int fd = mkstemp(path);
    must(fd >= 0 && close(fd) == 0);
    must(vs_technique_parse(&spec, any ? "pt:foreign" : "pt", NULL) == 0);
    must(vs_text_add(&code, &(struct vs_block){CODE, program, sizeof(program), 8}) == 0 &&
         vs_text_index(&code) == 0);
    must(vs_writer_open(&writer, path,
                        &(struct vs_writer_options){.inline_work = true, .overwrite = true},
                        NULL) == 0);
    const struct vs_flow_run_config config = {.isa = vs_isa_find("x86-64"),
                                              .code = &code,
                                              .spec = &spec,
                                              .setup = {.cores = 1, .address_bits = 64},
                                              .streams = &stream,
                                              .writer = writer,
                                              .limit = LIMIT};
    int e = vs_flow_run_make(&config, &result, &diag);
    must(e == 0 || ((e == -VSE_CORRUPT || e == -VSE_TRUNCATED || e == -VSE_LIMIT) &&
                    diag.error == e && diag.text[0] && diag.offset >= 0));
    must(result.instructions <= LIMIT);
    vs_writer_abort(writer);
    unlink(path);
    vs_text_fini(&code);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    if (data[0] == 0)
        take_about(data + 1, size - 1);
    else if (data[0] == 1)
        take_perf(data + 1, size - 1);
    else
        take_stream(data + 1, size - 1, data[0] & 1);
    return 0;
}

/* ---- seeds ----------------------------------------------------------------------------------- */

static void seed(const char *dir, const char *name, unsigned kind, const void *bytes, size_t size)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/foreign.%s", dir, name);
    FILE *f = fopen(path, "wb");
    must(f && fputc((int)kind, f) == (int)kind);
    must(fwrite(bytes, 1, size, f) == size && fclose(f) == 0);
}

static const char about[] =
    "{\"version\":1,\"technique\":\"pt:stack=64\",\"isa\":\"x86-64\",\"address_bits\":64,"
    "\"timed\":false,\"cores\":[{\"file\":\"a.pt\",\"bytes\":30,\"thread\":0,\"tid\":7}],"
    "\"images\":[{\"path\":\"/bin/a\",\"start\":\"0x1000\",\"length\":\"0x2000\",\"base\":\"0x0\","
    "\"build_id\":\"00ff\"}],\"code\":{\"file\":\"a.pt.code\",\"changes\":false,\"ranges\":["
    "{\"address\":\"0x1000\",\"offset\":0,\"size\":18}]}}";

/* PSB PSBEND MODE PGE(1000) TNT(taken, not) PGD PGE(100b) TNT(not) FUP(100d) TIP(1000) ... */
static const uint8_t stream[] = {0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02,
                                 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x23, 0x99, 0x01, 0x31, 0x00,
                                 0x10, 0x0c, 0x2d, 0x11, 0x10, 0x06, 0x01, 0x31, 0x0b, 0x10, 0x04,
                                 0x00, 0x3d, 0x0d, 0x10, 0x2d, 0x00, 0x10, 0x3d, 0x00, 0x10, 0x01};

static void seed_perf(const char *dir)
{
    uint8_t file[104 + 16 + 48 + sizeof(stream)] = {0};
    const uint64_t head[] = {104, 0, 0, 0, 104, sizeof(file) - 104};
    const uint32_t info[] = {70, 16 << 16, 1, 0};
    const uint32_t aux[] = {71, 48 << 16, sizeof(stream), 0, 0, 0, 0, 0, 0, 7, UINT32_MAX, 0};
    memcpy(file, "PERFILE2", 8);
    memcpy(file + 8, head, sizeof(head));
    memcpy(file + 104, info, sizeof(info));
    memcpy(file + 120, aux, sizeof(aux));
    memcpy(file + 168, stream, sizeof(stream));
    struct vs_diag diag = {0};
    struct vs_perf_data p;
    must(vs_perf_data_parse(&p, file, sizeof(file), &diag) == 0 && p.streams[0].tid == 7 &&
         p.streams[0].size == sizeof(stream));
    vs_perf_data_fini(&p);
    seed(dir, "perf", 1, file, sizeof(file));
    file[96] = 16; /* the same as a pipe has it, with the end of the header in front */
    memcpy(file + 88, "PERFILE2", 8);
    seed(dir, "pipe", 1, file + 88, sizeof(file) - 88);
}

/* Trace that was lost: a packet is cut, and a PSB comes after it, as it is or in perf's pieces. */
static void seed_cut(const char *dir)
{
    enum { CUT = 27, HEAD = 104, INFO = 16, AUX = 32, PIECE = 48, ROOM = 32 };
    uint8_t bytes[CUT + sizeof(stream)],
        file[HEAD + INFO + AUX + 2 * PIECE + ROOM + sizeof(stream)] = {0};
    const uint64_t head[] = {HEAD, 0, 0, 0, HEAD, sizeof(file) - HEAD}, end = CUT;
    const uint32_t info[] = {70, INFO << 16, 1, 0}, full[] = {11, AUX << 16, 0, 0, CUT, 0, 1, 0};
    uint32_t piece[] = {71, PIECE << 16, ROOM, 0, 0, 0, 0, 0, 0, 7, UINT32_MAX, 0};
    memcpy(bytes, stream, CUT);
    memcpy(bytes + CUT, stream, sizeof(stream));
    seed(dir, "cut", 3, bytes, sizeof(bytes));
    uint8_t *at = file + HEAD;
    memcpy(file, "PERFILE2", 8);
    memcpy(file + 8, head, sizeof(head));
    memcpy(at, info, sizeof(info));
    memcpy(at += INFO, full, sizeof(full));
    memcpy(at += AUX, piece, sizeof(piece));
    memcpy(at += PIECE, stream, CUT);
    piece[2] = sizeof(stream);
    memcpy(piece + 4, &end, sizeof(end));
    memcpy(at += ROOM, piece, sizeof(piece));
    memcpy(at + PIECE, stream, sizeof(stream));
    struct vs_diag diag = {0};
    struct vs_perf_data p;
    must(vs_perf_data_parse(&p, file, sizeof(file), &diag) == 0 && p.truncated &&
         !p.streams[0].lost);
    must(p.streams[0].size == CUT + 20 + sizeof(stream));
    vs_perf_data_fini(&p);
    seed(dir, "full", 1, file, sizeof(file));
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    if (*argc != 3 || strcmp((*argv)[1], "--seed") != 0)
        return 0;
    seed((*argv)[2], "about", 0, about, sizeof(about) - 1);
    seed((*argv)[2], "exact", 2, stream, sizeof(stream));
    seed((*argv)[2], "any", 3, stream, sizeof(stream));
    seed_perf((*argv)[2]);
    seed_cut((*argv)[2]);
    _exit(0);
}
