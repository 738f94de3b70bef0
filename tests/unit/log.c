/* SPDX-License-Identifier: MIT */
#include "base/log.h"

#include <stdio.h>
#include <string.h>

#include "unittest.h"

struct heard {
    int calls, level;
    char domain[32], text[VS_LOG_TEXT_MAX];
};

static void hear(void *ctx, int level, const char *domain, const char *text)
{
    struct heard *h = ctx;
    h->calls++;
    h->level = level;
    snprintf(h->domain, sizeof(h->domain), "%s", domain);
    snprintf(h->text, sizeof(h->text), "%s", text);
}

TEST(hands_messages_to_the_sink)
{
    struct heard h = {0};
    struct vs_log log;
    vs_log_init(&log, hear, &h);
    vs_log(&log, VS_LOG_WARN, "trace", "lost %d of %s", 3, "them");
    CHECK_EQ(h.calls, 1);
    CHECK_EQ(h.level, VS_LOG_WARN);
    CHECK_STR(h.domain, "trace");
    CHECK_STR(h.text, "lost 3 of them");
}

TEST(is_silent_without_a_log)
{
    CHECK(!vs_log_on(NULL, VS_LOG_ERROR, "trace"));
    vs_log(NULL, VS_LOG_ERROR, "trace", "x");
}

TEST(starts_with_warnings)
{
    struct heard h = {0};
    struct vs_log log;
    vs_log_init(&log, hear, &h);
    CHECK(vs_log_on(&log, VS_LOG_ERROR, "x"));
    CHECK(vs_log_on(&log, VS_LOG_WARN, "x"));
    CHECK(!vs_log_on(&log, VS_LOG_INFO, "x"));
    vs_log(&log, VS_LOG_INFO, "x", "y");
    vs_log(&log, VS_LOG_DEBUG, "x", "y");
    CHECK_EQ(h.calls, 0);
}

TEST(sets_levels_by_domain)
{
    struct vs_log log;
    vs_log_init(&log, hear, NULL);
    CHECK_EQ(vs_log_configure(&log, "info,trace=debug,cli=error"), 0);
    CHECK(vs_log_on(&log, VS_LOG_DEBUG, "trace"));
    CHECK(vs_log_on(&log, VS_LOG_INFO, "base"));
    CHECK(!vs_log_on(&log, VS_LOG_DEBUG, "base"));
    CHECK(vs_log_on(&log, VS_LOG_ERROR, "cli"));
    CHECK(!vs_log_on(&log, VS_LOG_WARN, "cli"));
    CHECK(!vs_log_on(&log, VS_LOG_DEBUG, "trac"));
    CHECK(!vs_log_on(&log, VS_LOG_DEBUG, "traces"));
}

TEST(lets_the_later_word_win)
{
    struct vs_log log;
    vs_log_init(&log, hear, NULL);
    CHECK_EQ(vs_log_configure(&log, "trace=debug,debug,trace=error,info"), 0);
    CHECK_EQ(vs_log_level_of(&log, "trace"), VS_LOG_ERROR);
    CHECK_EQ(vs_log_level_of(&log, "x"), VS_LOG_INFO);
    CHECK_EQ(vs_log_configure(&log, "trace=warn"), 0);
    CHECK_EQ(vs_log_level_of(&log, "trace"), VS_LOG_WARN);
    CHECK_EQ(vs_log_level_of(&log, "x"), VS_LOG_INFO);
    CHECK_EQ(vs_log_configure(&log, ""), 0);
    CHECK_EQ(vs_log_level_of(&log, "x"), VS_LOG_INFO);
}

TEST(lowers_levels_again)
{
    struct vs_log log;
    vs_log_init(&log, hear, NULL);
    CHECK_EQ(vs_log_configure(&log, "debug"), 0);
    CHECK_EQ(vs_log_configure(&log, "error"), 0);
    CHECK(!vs_log_on(&log, VS_LOG_WARN, "x"));
}

TEST(refuses_bad_lists_and_changes_nothing)
{
    static const char *const bad[] = {
        "loud",
        "info,",
        ",info",
        ",",
        "info,,debug",
        "trace=",
        "trace=loud",
        "=debug",
        "Info",
        "inf",
        "infos",
        "trace=debug=info",
        " info",
        "debug,trace=",
        "trace",
        "=",
        "a-name-of-16-char=info",
        "debug,loud",
    };
    struct vs_log log, before;
    vs_log_init(&log, hear, NULL);
    CHECK_EQ(vs_log_configure(&log, "a=info"), 0);
    before = log;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        CHECK_ERR(vs_log_configure(&log, bad[i]), VSE_INVAL);
        CHECK_MEM(&log, &before, sizeof(log));
    }
}

TEST(bounds_names_and_domains)
{
    struct vs_log log;
    vs_log_init(&log, hear, NULL);
    CHECK_EQ(vs_log_configure(&log, "fifteen-letters=info"), 0);
    CHECK_EQ(vs_log_level_of(&log, "fifteen-letters"), VS_LOG_INFO);
    CHECK_ERR(vs_log_configure(&log, "sixteen--letters=info"), VSE_INVAL);
    for (int i = 1; i < VS_LOG_DOMAINS; i++) {
        char item[32];
        snprintf(item, sizeof(item), "d%d=debug", i);
        CHECK_EQ(vs_log_configure(&log, item), 0);
    }
    CHECK_ERR(vs_log_configure(&log, "more=info"), VSE_INVAL);
    CHECK_EQ(vs_log_configure(&log, "d1=info"), 0);
    CHECK_EQ(vs_log_level_of(&log, "d1"), VS_LOG_INFO);
}

TEST(makes_messages_one_line)
{
    struct heard h = {0};
    struct vs_log log;
    char longer[2 * VS_LOG_TEXT_MAX];
    vs_log_init(&log, hear, &h);
    vs_log(&log, VS_LOG_ERROR, "x", "a\nb\x1b[m");
    CHECK_STR(h.text, "a?b?[m");
    memset(longer, 'a', sizeof(longer));
    longer[sizeof(longer) - 1] = '\0';
    vs_log(&log, VS_LOG_ERROR, "x", "%s", longer);
    CHECK_EQ(strlen(h.text), VS_LOG_TEXT_MAX - 1);
}

TEST(names_levels)
{
    CHECK_STR(vs_log_level_name(VS_LOG_ERROR), "error");
    CHECK_STR(vs_log_level_name(VS_LOG_DEBUG), "debug");
    CHECK_STR(vs_log_level_name(-1), "?");
    CHECK_STR(vs_log_level_name(VS_LOG_DEBUG + 1), "?");
}
