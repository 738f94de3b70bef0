/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many files the program may open. Valgrind keeps the highest descriptors for itself, shows the
 * program a limit that is lower by as many, and lets it change only the soft limit. Here the
 * program sees the limits that it would have natively, and may set them as it could natively; what
 * is really open stays below Valgrind's descriptors. */
#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"
#include "tool.h"

/* Offered by Valgrind's core, whose headers Debian does not install. */
extern Int VG_(fd_soft_limit), VG_(fd_hard_limit);
extern SysRes VG_(do_syscall)(UWord number, RegWord, RegWord, RegWord, RegWord, RegWord, RegWord,
                              RegWord, RegWord);

struct limits {
    ULong soft, hard;
};

static struct limits seen; /* by the program */
static HChar *option;      /* the option's text; a program started by exec gets it too */
static Int real_hard;      /* Valgrind's, during a call for which it is changed */
static struct limits set;  /* by that call */

static Int allowed(ULong soft)
{
    return soft < (ULong)VG_(fd_hard_limit) ? (Int)soft : VG_(fd_hard_limit);
}

void limits_init(HChar *text)
{
    HChar *rest;

    option = text;
    seen.soft = VG_(strtoull10)(text, &rest);
    seen.hard = VG_(strtoull10)(rest + 1, &rest);
    VG_(fd_soft_limit) = allowed(seen.soft);
}

void limits_keep(void)
{
    VG_(sprintf)(option, WIRE_FILES, (unsigned long long)seen.soft, (unsigned long long)seen.hard);
}

static SysRes change(const struct limits *to, struct limits *from)
{
    return VG_(do_syscall)(__NR_prlimit64, 0, VKI_RLIMIT_NOFILE, (Addr)to, (Addr)from, 0, 0, 0, 0);
}

/* Whether the kernel would grant the program a higher limit. It is asked for more than it has ever
 * granted, because the program could not get back what it gave up. */
static Bool may_raise(ULong hard)
{
    struct limits now;

    if (sr_isError(change(NULL, &now)))
        return False;
    now.hard = hard > now.hard ? hard : now.hard + 1;
    return !sr_isError(change(&now, NULL));
}

/* Finds where the program has its new limits, and where it wants the old ones. Returns False if the
 * call is about something else. */
static Bool is_about_files(const struct thread *t, Addr *new, Addr *old)
{
    *new = *old = 0;
    if (t->call == __NR_getrlimit && t->args[0] == VKI_RLIMIT_NOFILE)
        *old = t->args[1];
    else if (t->call == __NR_setrlimit && t->args[0] == VKI_RLIMIT_NOFILE)
        *new = t->args[1];
    else if (t->call == __NR_prlimit64 && t->args[1] == VKI_RLIMIT_NOFILE &&
             (t->args[0] == 0 || t->args[0] == (ULong)VG_(getpid)())) {
        *new = t->args[2];
        *old = t->args[3];
    } else
        return False;
    return True;
}

void limits_before(ThreadId tid)
{
    Addr new, old;

    real_hard = 0;
    if (!is_about_files(&the.threads[tid], &new, &old) || !new ||
        !VG_(am_is_valid_for_client)(new, sizeof(set), VKI_PROT_READ))
        return;
    set = *(const struct limits *)new;
    if (set.soft > set.hard || (set.hard > seen.hard && !may_raise(set.hard)))
        return;
    /* Valgrind wants the hard limit to stay as it is. */
    real_hard = VG_(fd_hard_limit);
    VG_(fd_hard_limit) = (Int)set.hard;
}

void limits_after(ThreadId tid, Bool success)
{
    Addr new, old;

    if (real_hard)
        VG_(fd_hard_limit) = real_hard;
    if (!is_about_files(&the.threads[tid], &new, &old))
        return;
    if (success && old &&
        VG_(am_is_valid_for_client)(old, sizeof(seen), VKI_PROT_READ | VKI_PROT_WRITE))
        *(struct limits *)old = seen;
    if (success && real_hard) {
        seen = set;
        VG_(fd_soft_limit) = allowed(seen.soft);
    }
    real_hard = 0;
}

void limits_give(Bool give)
{
    static struct limits mine;

    if (give)
        change(&seen, &mine);
    else
        change(&mine, NULL);
}
