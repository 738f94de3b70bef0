/* SPDX-License-Identifier: MIT */
#include "base/progress.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "unittest.h"

struct terminal {
    int master;
    FILE *out;
    char seen[20000];
};

static void terminal_init(struct terminal *t, unsigned short columns)
{
    struct winsize size = {.ws_col = columns, .ws_row = 24};
    t->master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
    CHECK(t->master >= 0);
    CHECK(grantpt(t->master) == 0 && unlockpt(t->master) == 0);
    int slave = open(ptsname(t->master), O_RDWR | O_NOCTTY);
    CHECK(slave >= 0);
    CHECK_EQ(ioctl(slave, TIOCSWINSZ, &size), 0);
    t->out = fdopen(slave, "w");
    CHECK(t->out);
    CHECK_EQ(setenv("TERM", "xterm", 1), 0);
}

/* What has been written since the last call. */
static const char *terminal_read(struct terminal *t)
{
    size_t len = 0;
    ssize_t n;
    while ((n = read(t->master, t->seen + len, sizeof(t->seen) - 1 - len)) > 0)
        len += (size_t)n;
    t->seen[len] = '\0';
    return t->seen;
}

static void terminal_fini(struct terminal *t)
{
    fclose(t->out);
    close(t->master);
}

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

TEST(writes_nothing_without_a_terminal)
{
    char *text = NULL;
    size_t size;
    FILE *memory = open_memstream(&text, &size);
    FILE *file = tmpfile();
    FILE *outs[] = {memory, file, NULL};
    for (int i = 0; i < 3; i++) {
        struct vs_progress p;
        vs_progress_init(&p, outs[i], "work", 100, "bytes");
        pause_ms(150);
        vs_progress_update(&p, 50);
        vs_progress_finish(&p);
    }
    fclose(memory);
    CHECK_EQ(size, 0);
    CHECK_EQ(fseek(file, 0, SEEK_END), 0);
    CHECK_EQ(ftell(file), 0);
    fclose(file);
    free(text);
}

TEST(writes_nothing_to_a_dumb_terminal)
{
    struct terminal t;
    struct vs_progress p;
    terminal_init(&t, 100);
    CHECK_EQ(setenv("TERM", "dumb", 1), 0);
    vs_progress_init(&p, t.out, "work", 100, "bytes");
    pause_ms(150);
    vs_progress_update(&p, 50);
    vs_progress_finish(&p);
    CHECK_STR(terminal_read(&t), "");
    terminal_fini(&t);
}

TEST(accepts_no_progress)
{
    vs_progress_update(NULL, 1);
    vs_progress_finish(NULL);
}

TEST(shows_share_rate_and_time_left)
{
    struct terminal t;
    struct vs_progress p;
    terminal_init(&t, 100);
    vs_progress_init(&p, t.out, "record", 40000000, "bytes");
    CHECK_STR(terminal_read(&t), "");
    pause_ms(150);
    vs_progress_update(&p, 10000000);
    const char *line = terminal_read(&t);
    CHECK_EQ(line[0], '\r');
    CHECK_HAS(line, "record:  25.0%  10.0M of 40.0M bytes  ");
    CHECK_HAS(line, "/s  ETA ");
    CHECK_HAS(line, "\033[K");
    CHECK(!strchr(line, '\n'));
    vs_progress_finish(&p);
    CHECK_STR(terminal_read(&t), "\r\033[K");
    terminal_fini(&t);
}

TEST(shows_count_and_rate_without_a_total)
{
    struct terminal t;
    struct vs_progress p;
    terminal_init(&t, 100);
    vs_progress_init(&p, t.out, "scan", 0, "events");
    pause_ms(150);
    vs_progress_update(&p, 1234567);
    const char *line = terminal_read(&t);
    CHECK_HAS(line, "scan: 1.23M events  ");
    CHECK_HAS(line, "/s\033[K");
    CHECK(!strchr(line, '%'));
    CHECK(!strstr(line, "ETA"));
    vs_progress_finish(&p);
    terminal_fini(&t);
}

TEST(scales_numbers)
{
    static const struct {
        uint64_t count;
        const char *shown;
    } cases[] = {
        {0, ": 0 x "},         {999, ": 999 x "},      {1000, ": 1.00k x "},
        {9999, ": 10.0k x "},  {99949, ": 99.9k x "},  {99950, ": 100k x "},
        {999499, ": 999k x "}, {999500, ": 1.00M x "}, {UINT64_MAX, ": 18.4E x "},
    };
    struct terminal t;
    terminal_init(&t, 80);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct vs_progress p;
        vs_progress_init(&p, t.out, "n", 0, "x");
        pause_ms(120);
        vs_progress_update(&p, cases[i].count);
        CHECK_HAS(terminal_read(&t), cases[i].shown);
        vs_progress_finish(&p);
        terminal_read(&t);
    }
    terminal_fini(&t);
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

TEST(redraws_at_most_ten_times_per_second)
{
    struct terminal t;
    struct vs_progress p;
    uint64_t calls = 0;
    int64_t lines = 0, start, elapsed;
    terminal_init(&t, 80);
    start = now_ms();
    vs_progress_init(&p, t.out, "work", 0, "x");
    while (now_ms() - start < 500)
        vs_progress_update(&p, ++calls);
    pause_ms(120);
    vs_progress_update(&p, ++calls);
    elapsed = now_ms() - start;
    for (const char *c = terminal_read(&t); *c; c++)
        lines += *c == '\r';
    CHECK(lines >= 1);
    CHECK(lines <= (elapsed + 10) / 100); /* 10: the grain of the clock behind it */
    vs_progress_finish(&p);
    terminal_fini(&t);
}

/* The line drawn at this width, without what erases. */
static void line_at(unsigned short width, char line[256], uint64_t total, const char *more)
{
    struct terminal t;
    struct vs_progress p;
    terminal_init(&t, width);
    vs_progress_init(&p, t.out, "counting", total, "instructions");
    p.more = more;
    pause_ms(120);
    vs_progress_update(&p, 0);
    const char *drawn = terminal_read(&t), *end = strstr(drawn, "\033[K");
    CHECK(end);
    CHECK_EQ(drawn[0], '\r');
    snprintf(line, 256, "%.*s", (int)(end - drawn - 1), drawn + 1);
    vs_progress_finish(&p);
    terminal_fini(&t);
}

TEST(leaves_out_what_has_no_room)
{
    static const struct {
        unsigned short width;
        const char *known, *unknown;
    } cases[] = {
        {200, "counting:   0.0%  0 of 100 instructions  0/s  ETA --:--  1 MB",
         "counting: 0 instructions  0/s  1 MB"},
        {0, "counting:   0.0%  0 of 100 instructions  0/s  ETA --:--  1 MB",
         "counting: 0 instructions  0/s  1 MB"},
        {58, "counting:   0.0%  0 of 100 instructions  0/s  ETA --:--",
         "counting: 0 instructions  0/s  1 MB"},
        {36, "counting:   0.0%  ETA --:--", "counting: 0 instructions  0/s  1 MB"},
        {35, "counting:   0.0%  ETA --:--", "counting: 0 instructions  0/s"},
        {27, "counting:   0.0%", "counting: 0 instructions"},
        {24, "counting:   0.0%", "0 instructions"},
        {16, "  0.0%", "0 instructions"},
        {10, "  0.0%", ""},
        {6, "", ""},
        {1, "", ""},
    };
    char line[256];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        line_at(cases[i].width, line, 100, "1 MB");
        CHECK_STR(line, cases[i].known);
        line_at(cases[i].width, line, 0, "1 MB");
        CHECK_STR(line, cases[i].unknown);
    }
}

/* A second of nothing after a fast start: the mean would still show the start. */
TEST(shows_the_rate_of_the_last_second)
{
    struct terminal t;
    struct vs_progress p;
    const char *line = "";
    terminal_init(&t, 80);
    vs_progress_init(&p, t.out, "work", 0, "x");
    pause_ms(120);
    vs_progress_update(&p, 1000000);
    CHECK_HAS(terminal_read(&t), "M/s");
    for (int i = 0; i < 14; i++) {
        pause_ms(110);
        vs_progress_update(&p, 1000000);
        line = terminal_read(&t);
    }
    CHECK_HAS(line, "1.00M x  0/s\033[K");
    vs_progress_finish(&p);
    terminal_fini(&t);
}

TEST(keeps_away_from_a_terminal_that_another_uses)
{
    struct terminal t;
    struct vs_progress p;
    struct termios modes;
    terminal_init(&t, 80);
    vs_progress_init(&p, t.out, "work", 0, "x");
    CHECK_EQ(tcgetattr(fileno(t.out), &modes), 0);
    modes.c_lflag &= ~(tcflag_t)ICANON;
    CHECK_EQ(tcsetattr(fileno(t.out), TCSANOW, &modes), 0);
    pause_ms(120);
    vs_progress_update(&p, 1);
    CHECK_STR(terminal_read(&t), "");
    modes.c_lflag |= ICANON;
    CHECK_EQ(tcsetattr(fileno(t.out), TCSANOW, &modes), 0);
    pause_ms(120);
    vs_progress_update(&p, 1);
    CHECK_HAS(terminal_read(&t), "work: 1 x");
    vs_progress_finish(&p);
    terminal_fini(&t);
}

TEST(can_be_forced)
{
    char *text = NULL;
    size_t size;
    FILE *memory = tmpfile();
    struct vs_progress p;
    vs_progress_init(&p, NULL, "work", 0, "x");
    vs_progress_force(&p, memory);
    pause_ms(150);
    vs_progress_update(&p, 50);
    vs_progress_finish(&p);
    text = calloc(1, 256);
    rewind(memory);
    size = fread(text, 1, 255, memory);
    CHECK(size > 0);
    CHECK_HAS(text, "\rwork: 50 x  ");
    fclose(memory);
    free(text);
}

TEST(stays_sane_beyond_the_total)
{
    struct terminal t;
    struct vs_progress p;
    terminal_init(&t, 80);
    vs_progress_init(&p, t.out, "bad\nname", 10, "x");
    pause_ms(120);
    vs_progress_update(&p, 1000);
    const char *line = terminal_read(&t);
    CHECK_HAS(line, "bad?name: 100.0%  1.00k of 10 x");
    CHECK_HAS(line, "ETA 0:00");
    pause_ms(120);
    vs_progress_update(&p, 0);
    CHECK_HAS(terminal_read(&t), "ETA --:--");
    vs_progress_finish(&p);
    terminal_fini(&t);
}

TEST(is_inactive_after_finish)
{
    struct terminal t;
    struct vs_progress p;
    terminal_init(&t, 80);
    vs_progress_init(&p, t.out, "work", 10, "x");
    vs_progress_finish(&p);
    CHECK_STR(terminal_read(&t), "");
    pause_ms(120);
    vs_progress_update(&p, 5);
    vs_progress_finish(&p);
    CHECK_STR(terminal_read(&t), "");
    terminal_fini(&t);
}
