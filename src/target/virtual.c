/* SPDX-License-Identifier: MIT */
/* Files that describe the machine or the process: the target's, not the host's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "target/linux.h"
#include "target/paths.h"

static void write_maps(struct vs_process *p, FILE *out)
{
    const struct vs_space *s = &p->linux_state->space;
    for (size_t i = 0; i < s->count; i++) {
        const struct vs_area *a = &s->areas[i];
        fprintf(out, "%08llx-%08llx %c%c%cp 00000000 00:00 0", (unsigned long long)a->start,
                (unsigned long long)a->end, a->flags & VS_MAP_READ ? 'r' : '-',
                a->flags & VS_MAP_WRITE ? 'w' : '-', a->flags & VS_MAP_EXEC ? 'x' : '-');
        if (a->kind == VS_AREA_IMAGE)
            fprintf(out, " %s", p->linux_state->path);
        else if (a->kind == VS_AREA_STACK)
            fprintf(out, " [stack]");
        else if (a->kind == VS_AREA_HEAP)
            fprintf(out, " [heap]");
        fputc('\n', out);
    }
}

static void write_cpuinfo(struct vs_process *p, FILE *out)
{
    char text[256];
    for (unsigned i = 0; i < p->linux_state->cores; i++) {
        p->isa->abi->describe_core(i, text, sizeof(text));
        fprintf(out, "processor\t: %u\n%s\n", i, text);
    }
}

static void write_meminfo(struct vs_process *p, FILE *out)
{
    unsigned long long left = vs_space_left(p) >> 10;
    fprintf(out, "MemTotal: %llu kB\nMemFree: %llu kB\nMemAvailable: %llu kB\n",
            (unsigned long long)(p->linux_state->space.limit >> 10), left, left);
}

static void write_online(struct vs_process *p, FILE *out)
{
    if (p->linux_state->cores > 1)
        fprintf(out, "0-%u\n", p->linux_state->cores - 1);
    else
        fprintf(out, "0\n");
}

static void write_comm(struct vs_process *p, FILE *out)
{
    fprintf(out, "%s\n", p->tasks[0]->linux_state->name);
}

static const struct {
    const char *path;
    void (*write)(struct vs_process *p, FILE *out);
} files[] = {
    {"/proc/self/maps", write_maps},
    {"/proc/1000/maps", write_maps},
    {"/proc/self/comm", write_comm},
    {"/proc/cpuinfo", write_cpuinfo},
    {"/proc/meminfo", write_meminfo},
    {"/sys/devices/system/cpu/online", write_online},
    {"/sys/devices/system/cpu/possible", write_online},
};

static int open_text(struct vs_process *p, void (*write_text)(struct vs_process *, FILE *))
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    int fd = -1;
    if (out) {
        write_text(p, out);
        if (!fclose(out))
            fd = memfd_create("text", MFD_CLOEXEC);
    }
    if (fd >= 0 && (write(fd, text, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET))) {
        close(fd);
        fd = -1;
    }
    free(text);
    return fd >= 0 ? fd : VS_VIRTUAL_NONE;
}

static bool is_under(const char *path, const char *top)
{
    size_t n = strlen(top);
    return !strncmp(path, top, n) && (path[n] == '/' || !path[n]);
}

bool vs_virtual_has(const char *path)
{
    return is_under(path, "/proc") || is_under(path, "/sys") || is_under(path, "/dev/fd") ||
           is_under(path, "/dev/stdin") || is_under(path, "/dev/stdout") ||
           is_under(path, "/dev/stderr");
}

int vs_virtual_open(struct vs_process *p, const char *path)
{
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        if (!strcmp(path, files[i].path))
            return open_text(p, files[i].write);
    return vs_virtual_has(path) ? VS_VIRTUAL_NONE : VS_VIRTUAL_PLAIN;
}

bool vs_virtual_is_random(const char *path)
{
    return !strcmp(path, "/dev/urandom") || !strcmp(path, "/dev/random");
}
