/* SPDX-License-Identifier: MIT */
/* What must hold ends the process where it does not, with one line that says what and where. */
#include "base/invariant.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "unittest.h"

/* What the child says on standard error, and the signal that ends it. */
static int end_of(void (*run)(void), char *text, size_t size)
{
    int ends[2], status;
    CHECK_EQ(pipe(ends), 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        dup2(ends[1], STDERR_FILENO);
        run();
        _exit(0);
    }
    close(ends[1]);
    ssize_t n = read(ends[0], text, size - 1);
    text[n > 0 ? n : 0] = 0;
    close(ends[0]);
    CHECK_EQ(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void keep(void)
{
    int one = 1;
    invariant(one == 1);
}

static void break_one(void)
{
    int one = 1;
    invariant(one == 2);
}

/* One of the library's own. */
static void grow_nothing(void)
{
    void *array = NULL;
    size_t capacity = 0;
    vs_array_room(&array, &capacity, 0, 1, 0);
}

TEST(goes_on_while_it_holds)
{
    char text[512];
    CHECK_EQ(end_of(keep, text, sizeof(text)), 0);
    CHECK_STR(text, "");
}

TEST(ends_with_one_line)
{
    char text[512];
    CHECK_EQ(end_of(break_one, text, sizeof(text)), SIGABRT);
    CHECK_HAS(text, "vestige: bug: tests/unit/invariant.c:");
    CHECK_HAS(text, "break_one: broken: one == 2\n");
    CHECK_EQ(strcspn(text, "\n"), strlen(text) - 1);
}

TEST(is_there_in_the_library)
{
    char text[512];
    CHECK_EQ(end_of(grow_nothing, text, sizeof(text)), SIGABRT);
    CHECK_HAS(text, "array.c");
}
