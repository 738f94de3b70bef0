/* SPDX-License-Identifier: MIT */
/* Hostile programs and platforms: an input is an ELF file that is loaded, and also a file of
 * parameters. Nothing is executed: a program could do harm. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "target/config.h"
#include "target/process.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int fd;
static char path[64];

static void must(bool ok)
{
    if (!ok)
        abort();
}

static void check_process(const struct vs_process *p)
{
    const struct vs_effect *last = &p->effects[p->effect_count - 1];
    must(p->alive == 1 && p->task_count == 1 && p->effect_count > 1);
    must(last->kind == VS_EFFECT_STARTED && last->task == p->tasks[0]);
    for (size_t i = 0; i < p->effect_count; i++) {
        const struct vs_effect *e = &p->effects[i];
        must(e->addr <= UINT64_MAX - e->size);
        must(e->kind != VS_EFFECT_WROTE || e->size);
    }
}

static void load_program(void)
{
    char name[] = "program", variable[] = "A=b";
    char *argv[] = {name, NULL}, *envp[] = {variable, NULL};
    struct vs_process_options options = {
        .path = path, .argv = argv, .envp = envp, .cores = 2, .memory_limit = 64 << 20};
    struct vs_process *p = NULL;
    struct vs_diag diag = {0};
    int checked = vs_process_check(path, &diag);
    must(checked == 0 || diag.text[0]);
    int err = vs_process_open(&p, &options, &diag);
    must((err == 0) == (p != NULL) && (err == 0 || diag.text[0]));
    must(checked == 0 || err != 0);
    if (p)
        check_process(p);
    vs_process_close(p);
}

static void load_platform(void)
{
    struct vs_target_config c;
    struct vs_hierarchy_config caches;
    struct vs_diag diag = {0};
    must(vs_target_config_init(&c, "cs32") == 0);
    int err = vs_target_config_load(&c, path, &diag);
    must(err == 0 || (err == -VSE_INVAL && diag.text[0]));
    if (vs_target_config_check(&c, &diag) == 0)
        vs_target_config_caches(&c, &caches);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    must(ftruncate(fd, 0) == 0);
    must(pwrite(fd, data, size, 0) == (ssize_t)size);
    load_program();
    load_platform();
    return 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    fd = memfd_create("program", MFD_CLOEXEC);
    must(fd >= 0 && fchmod(fd, 0755) == 0);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return 0;
}
