/* SPDX-License-Identifier: MIT */
#include "target/config.h"

#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <unistd.h>

#include "unittest.h"

static struct vs_target_config fresh(const char *preset)
{
    struct vs_target_config c;
    CHECK_EQ(vs_target_config_init(&c, preset), 0);
    return c;
}

TEST(has_the_published_platforms)
{
    static const struct {
        const char *name;
        uint64_t l1_size, l2_size, l1, l2, dram;
    } want[] = {{"cs16", 16384, 65536, 4, 12, 100},
                {"cs32", 32768, 131072, 4, 12, 100},
                {"tewar", 8192, 65536, 2, 4, 200}};
    for (size_t i = 0; i < 3; i++) {
        struct vs_target_config c = fresh(want[i].name);
        struct vs_hierarchy_config h;
        c.cores = 4;
        c.timed = 1;
        CHECK_EQ(vs_target_config_check(&c, NULL), 0);
        vs_target_config_caches(&c, &h);
        CHECK_EQ(h.l1i.size, want[i].l1_size);
        CHECK_EQ(h.l1d.size, want[i].l1_size);
        CHECK_EQ(h.l1d.line, 32);
        CHECK_EQ(h.l2.size, 4 * want[i].l2_size);
        CHECK_EQ(h.latency.l1, want[i].l1);
        CHECK_EQ(h.latency.l2, want[i].l2);
        CHECK_EQ(h.latency.memory, want[i].dram);
    }
    struct vs_target_config c;
    CHECK_EQ(vs_target_config_init(&c, "cs64"), -VSE_NOTFOUND);
}

TEST(rounds_the_shared_cache_to_whole_sets)
{
    struct vs_target_config c = fresh("cs16");
    struct vs_hierarchy_config h;
    c.cores = 3;
    vs_target_config_caches(&c, &h);
    CHECK_EQ(h.l2.size, 2 * 65536);
    CHECK_EQ(vs_cache_check_config(&h.l2, NULL), 0);
}

TEST(sets_parameters_within_their_limits)
{
    static const struct {
        const char *name, *value;
        int want;
    } cases[] = {
        {"cores", "64", 0},
        {"cores", "65", -VSE_INVAL},
        {"cores", "0", -VSE_INVAL},
        {"l1d_size", "16K", 0},
        {"l1d_size", "0x4000", 0},
        {"l1d_size", "16k", -VSE_INVAL},
        {"line", "48", -VSE_INVAL},
        {"line", "64", 0},
        {"l1d_policy", "plru", 0},
        {"l1d_policy", "best", -VSE_INVAL},
        {"timed", "yes", 0},
        {"timed", "1", -VSE_INVAL},
        {"widht", "1", -VSE_NOTFOUND},
        {"width", "", -VSE_INVAL},
        {"width", "-1", -VSE_INVAL},
        {"seed", "99999999999999999999", -VSE_INVAL},
        {"l2_size", "18014398509481984K", -VSE_INVAL},
    };
    struct vs_target_config c = fresh("cs32");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct vs_diag diag = {0};
        if (vs_target_config_set(&c, cases[i].name, cases[i].value, &diag) != cases[i].want)
            unittest_fail(__FILE__, __LINE__, "%s = %s", cases[i].name, cases[i].value);
        CHECK(cases[i].want == 0 || *diag.text);
    }
    CHECK_EQ(c.l1d_size, 16384);
    CHECK_EQ(c.l1d_policy, VS_CACHE_PLRU);
}

static int load(struct vs_target_config *c, const char *text, struct vs_diag *diag)
{
    char path[] = "/tmp/configXXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    int err = vs_target_config_load(c, path, diag);
    unlink(path);
    return err;
}

TEST(loads_files)
{
    struct vs_target_config c = fresh("cs32");
    struct vs_diag diag;
    CHECK_EQ(load(&c, "# a platform\n\npreset = tewar\n cores=8 # all\nwidth\t=  2", &diag), 0);
    CHECK_EQ(c.cores, 8);
    CHECK_EQ(c.width, 2);
    CHECK_EQ(c.l1, 2);
    CHECK_EQ(load(&c, "cores = 2\nnothing\n", &diag), -VSE_INVAL);
    CHECK(strstr(diag.text, "line 2: not NAME = VALUE"));
    CHECK_EQ(load(&c, "cores = many\n", &diag), -VSE_INVAL);
    CHECK(strstr(diag.text, "line 1: cores is a number from 1 to 64, not 'many'"));
    CHECK_EQ(load(&c, "preset = none\n", &diag), -VSE_INVAL);
    CHECK_EQ(vs_target_config_load(&c, "/nowhere/at/all", &diag), -VSE_IO);
}

TEST(reads_back_what_it_writes)
{
    struct vs_target_config a = fresh("cs16"), b = fresh("tewar");
    char text[2048];
    a.cores = 12;
    a.l2_policy = VS_CACHE_FIFO;
    a.seed = UINT64_MAX;
    CHECK(vs_parameters_text(vs_target_parameters, &a, text, sizeof(text)) > 0);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
        char *value = strchr(word, '=');
        *value++ = 0;
        CHECK_EQ(vs_target_config_set(&b, word, value, NULL), 0);
    }
    CHECK_EQ(memcmp(&a, &b, sizeof(a)), 0);
    CHECK_EQ(vs_parameters_text(vs_target_parameters, &a, text, 100), -VSE_LIMIT);
}

TEST(refuses_caches_that_cannot_be)
{
    struct vs_target_config c = fresh("cs32");
    struct vs_diag diag;
    c.timed = 1;
    c.l1d_ways = 3;
    CHECK_EQ(vs_target_config_check(&c, &diag), -VSE_INVAL);
    CHECK(!strncmp(diag.text, "l1d: ", 5));
    c.timed = 0;
    CHECK_EQ(vs_target_config_check(&c, &diag), 0);
}
