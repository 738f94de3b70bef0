/* SPDX-License-Identifier: MIT */
/* Writes a file as `perf record -e intel_pt//u` does, of streams that are there.
 *
 *   perf_file OUT HOW CODE RANGES STREAM...
 *
 * HOW is "thread" (a stream for each thread, the first of which is number 1000), "processor",
 * "pipe" (the same, as it is written to a pipe), "full" (the buffer was, at the end), "stopped:N"
 * (it was N bytes behind the middle, and trace went on with a PSB at least 64 bytes later),
 * "lost:N" (the part of the AUX area that begins there is not in the file), or what is to be
 * refused: "swapped", "compressed", "bts", "empty". CODE is the file of all code, and RANGES, a
 * text, says where it lies: lines of address, offset and size. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t *data;
static size_t used;

static void put(const void *bytes, size_t size)
{
    data = realloc(data, used + size + 1);
    if (!data)
        exit(2);
    memcpy(data + used, bytes, size);
    used += size;
}

static void put16(uint16_t v)
{
    put(&v, sizeof(v));
}

static void put32(uint32_t v)
{
    put(&v, sizeof(v));
}

static void put64(uint64_t v)
{
    put(&v, sizeof(v));
}

static size_t begin(uint32_t type, uint16_t misc)
{
    size_t at = used;
    put32(type);
    put16(misc);
    put16(0);
    return at;
}

/* Ends a record, padded to 8 bytes. */
static void end(size_t at)
{
    static const uint8_t zeros[8] = {0};
    put(zeros, (8 - (used - at) % 8) % 8);
    uint16_t size = (uint16_t)(used - at);
    memcpy(data + at + 6, &size, 2);
}

static void put_info(bool bts)
{
    size_t at = begin(70, 0); /* AUXTRACE_INFO */
    put32(bts ? 2 : 1);
    put32(0);
    for (unsigned i = 0; i < 4; i++)
        put64(i);
    end(at);
}

static void put_comm(uint32_t tid)
{
    size_t at = begin(3, 1 << 13); /* COMM, of an exec */
    put32(1000);
    put32(tid);
    put("program", 8);
    end(at);
}

static void put_mmap2(const char *path, uint64_t address, uint64_t offset, uint64_t size,
                      uint32_t protection)
{
    size_t at = begin(10, 2); /* MMAP2, of user space */
    put32(1000);
    put32(1000);
    put64(address);
    put64(size);
    put64(offset);
    put32(8);
    put32(1);
    put64(12345);
    put64(1);
    put32(protection);
    put32(2);
    put(path, strlen(path) + 1);
    end(at);
}

static void put_mmap(const char *path, uint64_t address, uint64_t size, uint16_t misc)
{
    size_t at = begin(1, misc); /* MMAP */
    put32(1000);
    put32(1000);
    put64(address);
    put64(size);
    put64(0);
    put(path, strlen(path) + 1);
    end(at);
}

static void put_start(uint32_t tid)
{
    size_t at = begin(12, 0); /* ITRACE_START */
    put32(1000);
    put32(tid);
    end(at);
}

static void put_aux(uint64_t offset, uint64_t size, bool full)
{
    size_t at = begin(11, 0); /* AUX */
    put64(offset);
    put64(size);
    put64(full);
    end(at);
}

static void put_auxtrace(unsigned index, bool thread, uint64_t offset, const uint8_t *bytes,
                         size_t size)
{
    static const uint8_t zeros[8] = {0};
    size_t at = begin(71, 0), fill = (8 - size % 8) % 8; /* AUXTRACE; its bytes come behind it, */
    put64(size + fill);                                  /* filled up as its offset is not */
    put64(offset);
    put64(0);
    put32(index);
    put32(thread ? 1000 + index : UINT32_MAX);
    put32(thread ? UINT32_MAX : index);
    put32(0);
    end(at);
    put(bytes, size);
    put(zeros, fill);
}

static uint8_t *load(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    uint8_t *bytes = NULL;
    *size = 0;
    for (size_t n = 1; f && n;) {
        if (!(bytes = realloc(bytes, *size + (1 << 16))))
            exit(2);
        n = fread(bytes + *size, 1, 1 << 16, f);
        *size += n;
    }
    if (!f)
        exit(2);
    fclose(f);
    return bytes;
}

static size_t find_psb(const uint8_t *bytes, size_t size, size_t from)
{
    static const uint8_t psb[16] = {2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
                                    2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82};
    while (from + sizeof(psb) <= size && memcmp(bytes + from, psb, sizeof(psb)) != 0)
        from++;
    if (from + sizeof(psb) > size)
        exit(2);
    return from;
}

/* The AUX area was full so far behind the middle. What came then was never written to it. */
static void put_stopped_streams(size_t behind, int count, char **paths)
{
    for (int i = 0; i < count; i++) {
        size_t size;
        uint8_t *bytes = load(paths[i], &size);
        size_t stop = size / 2 + behind, on = find_psb(bytes, size, stop + 64);
        put_auxtrace((unsigned)i, true, 0, bytes, stop);
        put_aux(0, stop, true);
        put_auxtrace((unsigned)i, true, stop, bytes + on, size - on);
        put_aux(stop, size - on, false);
        free(bytes);
    }
}

/* The AUX area comes in pieces, those of the streams one after the other. */
static void put_streams(const char *how, int count, char **paths)
{
    bool thread = strcmp(how, "processor") != 0, lost = !strncmp(how, "lost:", 5);
    size_t behind = lost ? strtoul(how + 5, NULL, 10) : 0;
    if (!strncmp(how, "stopped:", 8)) {
        put_stopped_streams(strtoul(how + 8, NULL, 10), count, paths);
        return;
    }
    for (unsigned piece = 0; piece < 2; piece++) {
        for (int i = 0; i < count; i++) {
            size_t size;
            uint8_t *bytes = load(paths[i], &size);
            size_t middle = size / 2 + behind;
            size_t from = piece ? middle : 0, n = piece ? size - middle : middle;
            put_aux(from, n, !strcmp(how, "full") && piece);
            put_auxtrace((unsigned)i, thread, from + (piece && lost ? 4096 : 0), bytes + from, n);
            free(bytes);
        }
        end(begin(68, 0)); /* FINISHED_ROUND */
    }
}

static void put_maps(const char *code, const char *ranges)
{
    uint64_t address, offset, size;
    FILE *f = fopen(ranges, "r");
    if (!f)
        exit(2);
    put_mmap("[kernel.kallsyms]_text", UINT64_C(0xffffffff81000000), 0x1000000, 1);
    put_mmap("/nowhere/module.ko", UINT64_C(0xffffffffc0000000), 0x1000, 1);
    put_mmap("[vdso]", UINT64_C(0x7ffff7fc1000), 0x1000, 2);
    put_mmap("/nowhere/data", UINT64_C(0x600000), 0x1000, 2 | 1 << 13);
    put_mmap2("/nowhere/heap", UINT64_C(0x700000), 0, 0x1000, 3);
    while (fscanf(f, "%" SCNx64 " %" SCNu64 " %" SCNu64, &address, &offset, &size) == 3)
        put_mmap2(code, address, offset, size, 5);
    fclose(f);
}

static void put_header(const char *how)
{
    static const uint8_t attr[128] = {8, 0, 0, 0, 112};
    bool pipe = !strcmp(how, "pipe");
    put(!strcmp(how, "swapped") ? "2ELIFREP" : "PERFILE2", 8);
    put64(pipe ? 16 : 104);
    if (pipe) {
        size_t at = begin(64, 0); /* HEADER_ATTR */
        put(attr, 112);
        end(at);
        at = begin(66, 0); /* HEADER_TRACING_DATA, and what is behind it */
        put32(16);
        end(at);
        put(attr, 16);
        return;
    }
    put64(sizeof(attr)); /* of an attribute with its section of numbers */
    put64(104);          /* attributes */
    put64(sizeof(attr));
    put64(104 + sizeof(attr)); /* data */
    put64(0);
    for (unsigned i = 0; i < 6; i++) /* types, features */
        put64(0);
    put(attr, sizeof(attr));
}

int main(int argc, char **argv)
{
    if (argc < 6)
        return 2;
    const char *how = argv[2];
    put_header(how);
    size_t from = used;
    put_info(!strcmp(how, "bts"));
    put_comm(1000);
    put_maps(argv[3], argv[4]);
    for (int i = 5; i < argc; i++)
        put_start(1000 + (uint32_t)i - 5);
    if (!strcmp(how, "compressed"))
        end(begin(81, 0));
    if (strcmp(how, "empty") != 0)
        put_streams(how, argc - 5, argv + 5);
    uint64_t size = used - from;
    if (strcmp(how, "pipe") != 0)
        memcpy(data + 48, &size, 8);
    FILE *f = fopen(argv[1], "wb");
    return !f || fwrite(data, 1, used, f) != used || fclose(f) ? 2 : 0;
}
