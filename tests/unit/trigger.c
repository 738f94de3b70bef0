/* SPDX-License-Identifier: MIT */
#include "engine/trigger.h"

#include <signal.h>

#include "unittest.h"

static struct vs_trigger parsed(const char *text)
{
    struct vs_trigger t;
    struct vs_diag diag;
    CHECK_EQ(vs_trigger_parse(&t, text, &diag), 0);
    return t;
}

TEST(parses_what_happens)
{
    CHECK_EQ(parsed("signal:SEGV").kind, VS_TRIGGER_SIGNAL);
    CHECK_EQ(parsed("signal:SEGV").number, SIGSEGV);
    CHECK_EQ(parsed("signal:SIGUSR1").number, SIGUSR1);
    CHECK_EQ(parsed("signal:34").number, 34);
    CHECK_EQ(parsed("exit:255").kind, VS_TRIGGER_EXIT);
    CHECK_EQ(parsed("exit:255").number, 255);
    CHECK_EQ(parsed("exit:nonzero").kind, VS_TRIGGER_NONZERO);
    CHECK_EQ(parsed("routine:a:b").kind, VS_TRIGGER_ROUTINE);
    CHECK_HAS(parsed("routine:a:b").name, "a:b");
    CHECK_EQ(parsed("time:1.5").kind, VS_TRIGGER_TIME);
    CHECK_EQ(parsed("time:1.5").seconds == 1.5, true);
}

TEST(refuses_what_is_none)
{
    static const char *const bad[] = {
        "",         "signal",   "signal:", "signal:0",  "signal:65", "signal:X", "exit:-1",
        "exit:256", "exit:1x",  "exit:",   "routine:",  "time:",     "time:-1",  "time:nan",
        "time:1s",  "sig:SEGV", "exits:1", "time:1e99", ":5",        "exit"};
    for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct vs_trigger t;
        struct vs_diag diag;
        CHECK_ERR(vs_trigger_parse(&t, bad[i], &diag), VSE_INVAL);
        CHECK_HAS(diag.text, "is not signal:NAME");
    }
}
