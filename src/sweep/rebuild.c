/* SPDX-License-Identifier: MIT */
#include "sweep/rebuild.h"

#include <stdio.h>
#include <string.h>

struct line {
    char *out;
    size_t used, capacity;
};

static void put(struct line *l, const char *text)
{
    size_t n = strlen(text), room = l->capacity - l->used - 1;
    n = n < room ? n : room;
    memcpy(l->out + l->used, text, n);
    l->used += n;
    l->out[l->used] = 0;
}

static void put_word(struct line *l, const char *word)
{
    int n = vs_shell_word(l->out + l->used, l->capacity - l->used, word);
    l->used += (size_t)n < l->capacity - l->used ? (size_t)n : l->capacity - l->used - 1;
}

int vs_shell_word(char *out, size_t capacity, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_./:=,+@%-";
    size_t n = 0;
    if (*word && strspn(word, plain) == strlen(word))
        return snprintf(out, capacity, "%s", word);
#define PUT(c)                                                                                     \
    do {                                                                                           \
        if (n + 1 < capacity)                                                                      \
            out[n] = (c);                                                                          \
        n++;                                                                                       \
    } while (0)
    PUT('\'');
    for (; *word; word++) {
        if (*word == '\'') {
            PUT('\'');
            PUT('\\');
            PUT('\'');
        }
        PUT(*word);
    }
    PUT('\'');
#undef PUT
    if (capacity)
        out[n < capacity ? n : capacity - 1] = 0;
    return (int)n;
}

/* What is recorded lies in the current folder, under its name. */
static void put_run(struct line *l, const struct vs_sweep_run *run)
{
    char file[600];
    snprintf(file, sizeof(file), "%s.vest", run->name);
    put(l, " ");
    put_word(l, run->command ? file : run->path);
}

static void put_recording(struct line *l, const struct vs_sweep_run *run)
{
    char file[600];
    snprintf(file, sizeof(file), "%s.vest", run->name);
    put(l, "vestige record -o ");
    put_word(l, file);
    if (run->as) {
        put(l, " --as ");
        put_word(l, run->as);
    }
    if (run->options) {
        put(l, " ");
        put(l, run->options);
    }
    put(l, " -- ");
    put(l, run->command);
    put(l, " && ");
}

void vs_rebuild_line(const struct vs_sweep *s, const struct vs_sweep_point *point, int64_t run,
                     const bool *members, char *out, size_t capacity)
{
    struct line l = {out, 0, capacity};
    char text[1200];
    *out = 0;
    for (size_t i = 0; i < s->runs.count; i++)
        if ((run >= 0 ? i == (size_t)run : members[i]) && s->runs.items[i].command)
            put_recording(&l, &s->runs.items[i]);
    put(&l, "vestige bandwidth");
    for (size_t i = 0; i < s->runs.count; i++)
        if (run >= 0 ? i == (size_t)run : members[i])
            put_run(&l, &s->runs.items[i]);
    put(&l, " -t ");
    bool plain = !strcmp(point->config, "default");
    snprintf(text, sizeof(text), "%s%s%s", point->technique, plain ? "" : ":",
             plain ? "" : point->config);
    put_word(&l, text);
    if (s->study->window) {
        snprintf(text, sizeof(text), " --window %llu", (unsigned long long)s->study->window);
        put(&l, text);
    }
    if (s->study->buffer) {
        put(&l, " --buffer ");
        put_word(&l, s->study->buffer);
    }
}
