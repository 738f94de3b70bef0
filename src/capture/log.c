/* SPDX-License-Identifier: MIT */
#include "capture/log.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/assemble.h"
#include "capture/valgrind.h"
#include "isa/isa.h"

/* A line without its end and without the process number that it begins with ("==123== "). */
struct line {
    const char *text;
    size_t length;
};

static bool next_line(const char **at, struct line *line)
{
    size_t length = strcspn(*at, "\n"), mark = strspn(*at, "=-0123456789");

    if (!**at)
        return false;
    if (mark >= 3 && mark < length && (*at)[mark] == ' ' && (**at == '=' || **at == '-'))
        mark++;
    else if (mark < length)
        mark = 0;
    line->text = *at + mark;
    line->length = length - mark;
    *at += length + ((*at)[length] == '\n');
    return true;
}

static bool has(const struct line *line, const char *words)
{
    return memmem(line->text, line->length, words, strlen(words));
}

/* Valgrind writes this for every instruction that it does not know, even if the program handles the
 * signal that results. */
static bool is_of_instruction(const struct line *line, bool *within)
{
    static const char *const words[] = {"vex amd64->IR:", "unhandled opc", "first_opcode =="};

    if (has(line, "valgrind: Unrecognised instruction at address"))
        *within = true;
    if (*within) {
        *within = !has(line, "probably kill your program");
        return true;
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (has(line, words[i]))
            return true;
    return false;
}

static void drop_instructions(char *said)
{
    const char *at = said;
    char *to = said;
    bool within = false;
    struct line line;

    for (const char *start = at; next_line(&at, &line); start = at)
        if (!is_of_instruction(&line, &within)) {
            memmove(to, start, (size_t)(at - start));
            to += at - start;
        }
    *to = 0;
}

/* Takes away the process number that lines begin with, and lines that hold nothing else. */
static void drop_numbers(char *said)
{
    char *to = said;

    while (*said) {
        size_t n = strcspn(said, "\n"), mark = strspn(said, "=-0123456789");
        bool ended = said[n] == '\n';

        if (mark < n && said[mark] == ' ')
            mark++;
        if (mark < n) {
            memmove(to, said + mark, n - mark + ended);
            to += n - mark + ended;
        }
        said += n + ended;
    }
    *to = 0;
}

static void read_at(int fd, off_t offset, char *text, size_t capacity)
{
    ssize_t n = pread(fd, text, capacity - 1, offset);

    text[n > 0 ? n : 0] = 0;
}

void vs_valgrind_log_read(struct vs_valgrind_log *log, int fd)
{
    struct stat st = {0};
    off_t tail = fstat(fd, &st) == 0 ? st.st_size - (off_t)sizeof(log->tail) + 1 : 0;

    read_at(fd, tail > 0 ? tail : 0, log->tail, sizeof(log->tail));
    read_at(fd, 0, log->said, sizeof(log->said));
    drop_instructions(log->said);
    drop_numbers(log->said);
}

/* Copies the line without blanks at its ends. */
static void copy(char *to, size_t capacity, const struct line *line)
{
    size_t blank = 0, length = line->length;

    while (blank < length && line->text[blank] == ' ')
        blank++;
    while (length > blank && line->text[length - 1] == ' ')
        length--;
    snprintf(to, capacity, "%.*s", (int)(length - blank), line->text + blank);
}

void vs_valgrind_log_failure(const struct vs_valgrind_log *log, char *reason, size_t capacity)
{
    /* The reason is in the line after the first two, and within the lines with the others. */
    static const char *const before[] = {"impossible' happened:", "unimplemented functionality:"};
    static const char *const within[] = {"Assertion '", "INTERNAL ERROR", "out of memory"};
    const char *at = log->tail;
    struct line line;

    *reason = 0;
    while (next_line(&at, &line)) {
        for (size_t i = 0; i < sizeof(before) / sizeof(*before); i++)
            if (has(&line, before[i]) && next_line(&at, &line)) {
                copy(reason, capacity, &line);
                return;
            }
        for (size_t i = 0; i < sizeof(within) / sizeof(*within); i++)
            if (has(&line, within[i])) {
                copy(reason, capacity, &line);
                return;
            }
        if (line.length)
            copy(reason, capacity, &line);
    }
}

void vs_valgrind_log_instruction(const struct vs_valgrind_log *log, char *reason, size_t capacity)
{
    static const char words[] = "unhandled instruction bytes: ";
    const char *at = log->tail, *told = NULL, *last = NULL;
    char text[VS_ISA_TEXT_MAX], *end;
    struct line line;
    uint8_t bytes[16];
    size_t count = 0;

    /* Valgrind writes an unknown instruction's bytes before it is to run; what ended the program
     * ran last. */
    while (next_line(&at, &line))
        if (has(&line, words)) {
            told = strstr(line.text, words) + strlen(words);
        } else if (has(&line, "Unrecognised instruction at address")) {
            last = told;
            told = NULL;
        }
    *reason = 0;
    for (; last && count < sizeof(bytes) && !strncmp(last, "0x", 2); last = end + (*end == ' '))
        bytes[count++] = (uint8_t)strtoul(last, &end, 16);
    if (count && vs_isa_find(VS_VALGRIND_ISA)->format(bytes, count, 0, text, sizeof(text)) > 0)
        snprintf(reason, capacity, "it does not know the instruction '%s'", text);
}

int vs_valgrind_log_signal(const struct vs_valgrind_log *log, int process)
{
    char words[96];

    snprintf(words, sizeof(words), "==%d== Process terminating with default action of signal ",
             process);
    const char *at = strstr(log->tail, words);
    long signal = at ? strtol(at + strlen(words), NULL, 10) : 0;
    return signal > 0 && signal <= 64 ? (int)signal : 0;
}
