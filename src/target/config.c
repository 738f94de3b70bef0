/* SPDX-License-Identifier: MIT */
#include "target/config.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/infile.h"

static const char *const switches[] = {"no", "yes", NULL};

#define AT(member) offsetof(struct vs_target_config, member)

/* clang-format off */
const struct vs_parameter vs_target_parameters[] = {
    {"cores", AT(cores), 1, VS_CORES_MAX, false, NULL, "cores"},
    {"timed", AT(timed), 0, 1, false, switches, "caches, pipelines and commit cycles"},
    {"seed", AT(seed), 0, UINT64_MAX, false, NULL, "another interleaving, other random numbers for the program"},
    {"frequency", AT(frequency), 1, 100000, false, NULL, "MHz: how fast the program's time passes"},
    {"slice", AT(slice), 1000, UINT64_C(1) << 40, false, NULL, "cycles of a thread while others wait for a core"},
    {"quantum", AT(quantum), 1, UINT64_C(1) << 24, false, NULL, "untimed: instructions of a core in its turn"},
    {"memory", AT(memory), 1, UINT64_C(1) << 24, false, NULL, "MiB of memory that the program may touch"},
    {"check", AT(check), 0, 1, false, switches, "timed: verify coherence at each access"},

    {"width", AT(width), 1, 8, false, NULL, "instructions that issue in a cycle"},
    {"penalty", AT(penalty), 0, 1000, false, NULL, "cycles of a mispredicted branch"},
    {"multiply", AT(multiply), 1, 1000, false, NULL, "latency of multiplication"},
    {"divide", AT(divide), 1, 1000, false, NULL, "latency of division"},
    {"fp_add", AT(fp_add), 1, 1000, false, NULL, "latency of floating-point addition and comparison"},
    {"fp_multiply", AT(fp_multiply), 1, 1000, false, NULL, "latency of floating-point multiplication"},
    {"fp_fused", AT(fp_fused), 1, 1000, false, NULL, "latency of fused multiplication and addition"},
    {"fp_divide", AT(fp_divide), 1, 1000, false, NULL, "latency of floating-point division"},
    {"fp_root", AT(fp_root), 1, 1000, false, NULL, "latency of square roots"},
    {"fp_convert", AT(fp_convert), 1, 1000, false, NULL, "latency of conversions"},
    {"fp_move", AT(fp_move), 1, 1000, false, NULL, "latency of floating-point moves and signs"},
    {"system", AT(system), 1, 1000000, false, NULL, "cycles of a system call"},
    {"gshare", AT(gshare), 0, 1 << 20, true, NULL, "counters of the branch predictor"},
    {"ras", AT(ras), 0, 1024, false, NULL, "entries of the return address stack"},
    {"ibtb", AT(ibtb), 0, 1 << 16, true, NULL, "entries of the buffer of indirect targets"},

    {"line", AT(line), 8, 1024, true, NULL, "bytes of a cache line"},
    {"l1i_size", AT(l1i_size), 64, 1 << 26, false, NULL, "bytes of a core's instruction cache"},
    {"l1i_ways", AT(l1i_ways), 1, 65536, false, NULL, "its ways"},
    {"l1i_policy", AT(l1i_policy), 0, 3, false, vs_cache_policy_words, "its replacement"},
    {"l1d_size", AT(l1d_size), 64, 1 << 26, false, NULL, "bytes of a core's data cache"},
    {"l1d_ways", AT(l1d_ways), 1, 65536, false, NULL, "its ways"},
    {"l1d_policy", AT(l1d_policy), 0, 3, false, vs_cache_policy_words, "its replacement"},
    {"l2_size", AT(l2_size), 64, 1 << 28, false, NULL, "bytes of the shared cache for each core"},
    {"l2_ways", AT(l2_ways), 1, 65536, false, NULL, "its ways"},
    {"l2_policy", AT(l2_policy), 0, 3, false, vs_cache_policy_words, "its replacement"},
    {"l1", AT(l1), 1, 10000, false, NULL, "cycles of a first-level hit: from a load to its use"},
    {"l2", AT(l2), 0, 10000, false, NULL, "cycles more if the line is in the shared cache"},
    {"dram", AT(dram), 0, 100000, false, NULL, "cycles more if it is not"},
    {"transfer", AT(transfer), 0, 10000, false, NULL, "cycles more for a line from another core"},
    {"upgrade", AT(upgrade), 0, 10000, false, NULL, "cycles more for invalidating others' copies"},
    {"jitter", AT(jitter), 0, 10000, false, NULL, "cycles at most added to a miss if seed is not 0"},
    {0},
};
/* clang-format on */

const char *const vs_target_presets[] = {"cs32", "cs16", "tewar", NULL};

/* These are as published. What the publication leaves open (the ways of tewar's first level, and of
 * the second) is as in cs32. */
static const struct {
    uint64_t l1_size, l2_size, l1, l2, dram;
} presets[] = {
    {32 << 10, 128 << 10, 4, 12, 100},
    {16 << 10, 64 << 10, 4, 12, 100},
    {8 << 10, 64 << 10, 2, 4, 200},
};

static int set_preset(struct vs_target_config *c, const char *name)
{
    size_t i = 0;
    while (vs_target_presets[i] && strcmp(vs_target_presets[i], name))
        i++;
    if (!vs_target_presets[i])
        return -VSE_NOTFOUND;
    c->line = 32;
    c->l1i_size = c->l1d_size = presets[i].l1_size;
    c->l1i_ways = c->l1d_ways = 4;
    c->l2_size = presets[i].l2_size;
    c->l2_ways = 8;
    c->l1i_policy = c->l1d_policy = c->l2_policy = VS_CACHE_LRU;
    c->l1 = presets[i].l1;
    c->l2 = c->transfer = c->upgrade = presets[i].l2;
    c->dram = presets[i].dram;
    return 0;
}

int vs_target_config_init(struct vs_target_config *c, const char *preset)
{
    *c = (struct vs_target_config){
        .cores = 1,
        .frequency = 1000,
        .slice = 1000000,
        .quantum = 1000,
        .memory = 4096,
        .width = 1,
        .penalty = 8,
        .multiply = 3,
        .divide = 20,
        .fp_add = 4,
        .fp_multiply = 4,
        .fp_fused = 5,
        .fp_divide = 20,
        .fp_root = 25,
        .fp_convert = 2,
        .fp_move = 1,
        .system = 200,
        .gshare = 1024,
        .ras = 8,
        .ibtb = 64,
        .jitter = 10,
    };
    return set_preset(c, preset);
}

int vs_target_config_set(struct vs_target_config *c, const char *name, const char *value,
                         struct vs_diag *diag)
{
    int err = vs_parameter_set(vs_target_parameters, c, name, value, diag);
    if (err != -VSE_NOTFOUND)
        return err;
    return vs_diag_set(diag, err, -1, -1,
                       "no parameter '%.40s'; 'vestige simulate --list' has them all", name);
}

/* ---- files ----------------------------------------------------------------------------------- */

#define BLANKS " \t\r\n"

static char *trim(char *text)
{
    text += strspn(text, BLANKS);
    for (size_t n = strlen(text); n && strchr(BLANKS, text[n - 1]); n--)
        text[n - 1] = 0;
    return text;
}

static int set_line(struct vs_target_config *c, char *line, struct vs_diag *diag)
{
    line[strcspn(line, "#")] = 0;
    char *name = trim(line), *value = strchr(name, '=');
    if (!*name)
        return 0;
    if (!value)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "not NAME = VALUE");
    *value++ = 0;
    name = trim(name);
    value = trim(value);
    if (strcmp(name, "preset"))
        return vs_target_config_set(c, name, value, diag);
    return set_preset(c, value) ? vs_diag_set(diag, -VSE_INVAL, -1, -1, "no preset '%.40s'", value)
                                : 0;
}

int vs_target_config_load(struct vs_target_config *c, const char *path, struct vs_diag *diag)
{
    struct vs_infile f;
    struct vs_diag why = {0};
    int64_t n = 0;
    int err = vs_infile_open(&f, path, diag);
    while (!err && (n = vs_infile_line(&f, &why)) >= 0) {
        err = set_line(c, (char *)f.text.data, &why);
        if (err)
            err = vs_diag_set(diag, -VSE_INVAL, -1, -1, "%s, line %llu: %s", path,
                              (unsigned long long)f.line, why.text);
    }
    if (!err && n != -VSE_END)
        err = vs_diag_set(diag, (int)n, -1, -1, "%s: %s", path, why.text);
    vs_infile_close(&f);
    return err;
}

static struct vs_cache_config cache_of(const struct vs_target_config *c, uint64_t size,
                                       uint64_t ways, uint64_t policy)
{
    return (struct vs_cache_config){.size = size,
                                    .line = (uint32_t)c->line,
                                    .ways = (uint32_t)ways,
                                    .policy = (enum vs_cache_policy)policy};
}

/* The shared cache has what all cores bring, rounded down to a power of two of sets. */
static uint64_t shared_size(const struct vs_target_config *c)
{
    uint64_t sets = c->l2_size * c->cores / (c->line * c->l2_ways), size = c->line * c->l2_ways;
    while (sets >>= 1)
        size <<= 1;
    return size;
}

void vs_target_config_caches(const struct vs_target_config *c, struct vs_hierarchy_config *caches)
{
    *caches = (struct vs_hierarchy_config){
        .cores = (unsigned)c->cores,
        .l1i = cache_of(c, c->l1i_size, c->l1i_ways, c->l1i_policy),
        .l1d = cache_of(c, c->l1d_size, c->l1d_ways, c->l1d_policy),
        .l2 = cache_of(c, shared_size(c), c->l2_ways, c->l2_policy),
        .latency = {.l1 = (uint32_t)c->l1,
                    .l2 = (uint32_t)c->l2,
                    .memory = (uint32_t)c->dram,
                    .transfer = (uint32_t)c->transfer,
                    .upgrade = (uint32_t)c->upgrade},
        .check = c->check,
    };
}

static int check_cache(const struct vs_cache_config *cache, const char *name, struct vs_diag *diag)
{
    struct vs_diag why;
    int err = vs_cache_check_config(cache, &why);
    return err ? vs_diag_set(diag, err, -1, -1, "%s: %s", name, why.text) : 0;
}

int vs_target_config_check(const struct vs_target_config *c, struct vs_diag *diag)
{
    struct vs_hierarchy_config caches;
    if (!c->timed)
        return 0;
    if (c->l2_size * c->cores < c->line * c->l2_ways)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1,
                           "l2: it has not one set; l2_size times cores is less than line times "
                           "l2_ways");
    if (c->ibtb == 1)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "ibtb is 0 or at least 2");
    vs_target_config_caches(c, &caches);
    int err = check_cache(&caches.l1i, "l1i", diag);
    if (!err)
        err = check_cache(&caches.l1d, "l1d", diag);
    return err ? err : check_cache(&caches.l2, "l2", diag);
}
