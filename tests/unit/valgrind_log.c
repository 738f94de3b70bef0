/* SPDX-License-Identifier: MIT */
/* What is read from Valgrind's log. */
#include "capture/log.h"

#include <stdio.h>

#include "unit/unittest.h"

static int signal_in(const char *text, int process)
{
    static struct vs_valgrind_log log;

    snprintf(log.tail, sizeof(log.tail), "%s", text);
    return vs_valgrind_log_signal(&log, process);
}

TEST(finds_the_signal_that_ended_the_process)
{
    const char *text = "==12== \n"
                       "==12== Process terminating with default action of signal 11 (SIGSEGV)\n"
                       "==12==  General Protection Fault\n"
                       "valgrind: the 'impossible' happened:\n"
                       "   main(): signal was supposed to be fatal\n";

    CHECK_EQ(signal_in(text, 12), 11);
    CHECK_EQ(signal_in(text, 1), 0); /* a child's */
    CHECK_EQ(signal_in(text, 112), 0);
    CHECK_EQ(signal_in("", 12), 0);
    CHECK_EQ(signal_in("==12== Process terminating with default action of signal 99 (?)\n", 12), 0);
}
