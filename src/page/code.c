/* SPDX-License-Identifier: MIT */
#include "page/code.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "page/data.h"

enum { BEFORE = 7, AROUND = 3, SOURCE_MAX = 4 << 20 };

/* ---- instructions ---------------------------------------------------------------------------- */

static bool find_block(const struct vs_reader *reader, uint64_t pc, struct vs_block *block)
{
    uint32_t count = vs_reader_info(reader)->blocks;
    for (uint32_t i = 0; i < count; i++)
        if (!vs_reader_block(reader, i, block) && pc >= block->addr &&
            pc - block->addr < block->size)
            return true;
    return false;
}

static void put_instruction(struct json *j, const struct vs_isa *isa, const uint8_t *bytes,
                            size_t size, uint64_t pc)
{
    char text[VS_ISA_TEXT_MAX];
    json_array(j, NULL);
    json_hex(j, NULL, pc);
    json_str(j, NULL, isa->format(bytes, size, pc, text, sizeof(text)) < 0 ? "?" : text);
    json_end(j);
}

void page_put_code(struct json *j, const char *key, const struct vs_reader *reader,
                   const struct vs_isa *isa, uint64_t pc)
{
    uint32_t offsets[BEFORE + 1], n = 0; /* a ring */
    struct vs_block block;
    struct vs_insn insn;
    uint32_t at = 0;
    json_array(j, key);
    if (isa && find_block(reader, pc, &block)) {
        while (at < block.size && block.addr + at <= pc) {
            offsets[n++ % (BEFORE + 1)] = at;
            if (isa->decode(block.bytes + at, block.size - at, block.addr + at, &insn) ||
                !insn.length)
                break;
            at += insn.length;
        }
        for (uint32_t i = n > BEFORE ? n - BEFORE - 1 : 0; i < n; i++) {
            uint32_t o = offsets[i % (BEFORE + 1)];
            put_instruction(j, isa, block.bytes + o, block.size - o, block.addr + o);
        }
    }
    json_end(j);
}

/* ---- source ---------------------------------------------------------------------------------- */

static char *read_source(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    char *text = NULL;
    ssize_t got = 0;
    size_t used = 0;
    if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= SOURCE_MAX)
        text = malloc((size_t)st.st_size + 1);
    while (text && used < (size_t)st.st_size &&
           (got = read(fd, text + used, (size_t)st.st_size - used)) > 0)
        used += (size_t)got;
    if (text)
        text[used] = 0;
    if (fd >= 0)
        close(fd);
    return text;
}

static void put_lines(struct json *j, char *text, unsigned line)
{
    unsigned number = 1;
    for (char *s = text, *end; s && *s && number <= line + AROUND; s = end, number++) {
        end = strchr(s, '\n');
        if (end)
            *end++ = 0;
        if (number + AROUND < line)
            continue;
        json_array(j, NULL);
        json_u64(j, NULL, number);
        page_text(j, NULL, s);
        json_end(j);
    }
}

void page_put_source(struct json *j, const char *key, const struct vs_where_frame *frame)
{
    char path[PATH_MAX];
    char *text = NULL;
    int n = frame->file && frame->line && frame->line < UINT_MAX - AROUND
                ? snprintf(path, sizeof(path), "%s%s%s", frame->folder ? frame->folder : "",
                           frame->folder ? "/" : "", frame->file)
                : -1;
    if (n > 0 && (size_t)n < sizeof(path))
        text = read_source(path);
    json_array(j, key);
    if (text)
        put_lines(j, text, frame->line);
    json_end(j);
    free(text);
}
