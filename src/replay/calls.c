/* SPDX-License-Identifier: MIT */
#include "replay/calls.h"

#include <errno.h>

#include "target/linux_abi.h"

enum { PAGE = 4096 };
enum { MOST = 0x7ffff000 }; /* bytes that one call moves */

/* How many bytes a row stands for, and when they are written. */
enum rule {
    NOTHING,
    RESULT,      /* as many as the result says */
    FIXED,       /* `size`, if the call succeeds and the pointer is not null */
    SIGNAL,      /* the same if the result is a signal */
    INTERRUPTED, /* the same if a signal ended the call */
    SPECIAL,     /* a function */
};

typedef int tell(const struct vs_call_made *c, const struct vs_call_memory *m);

static tell vector, poll_list, select_sets, ioctl_answer, fcntl_answer, wake_op, core_map, groups,
    name, pending, ids, two_words, robust, times_of_day, map, unmap, remap, advise, slept,
    clone_ids, clone3_ids;

/* By number: calls that write, which argument says where, and the size. A call that writes in two
 * places is SPECIAL. */
static const struct {
    uint16_t number, size;
    uint8_t rule, argument;
    tell *special;
} rows[] = {
    /* files */
    {.number = 17, .rule = RESULT, .argument = 0},              /* getcwd */
    {.number = 25, .rule = SPECIAL, .special = fcntl_answer},   /* fcntl */
    {.number = 29, .rule = SPECIAL, .special = ioctl_answer},   /* ioctl */
    {.number = 43, .rule = FIXED, .argument = 1, .size = 120},  /* statfs */
    {.number = 44, .rule = FIXED, .argument = 1, .size = 120},  /* fstatfs */
    {.number = 59, .rule = FIXED, .argument = 0, .size = 8},    /* pipe2 */
    {.number = 61, .rule = RESULT, .argument = 1},              /* getdents64 */
    {.number = 63, .rule = RESULT, .argument = 1},              /* read */
    {.number = 65, .rule = SPECIAL, .special = vector},         /* readv */
    {.number = 67, .rule = RESULT, .argument = 1},              /* pread64 */
    {.number = 69, .rule = SPECIAL, .special = vector},         /* preadv */
    {.number = 72, .rule = SPECIAL, .special = select_sets},    /* pselect6 */
    {.number = 73, .rule = SPECIAL, .special = poll_list},      /* ppoll */
    {.number = 78, .rule = RESULT, .argument = 2},              /* readlinkat */
    {.number = 79, .rule = FIXED, .argument = 2, .size = 128},  /* newfstatat */
    {.number = 80, .rule = FIXED, .argument = 1, .size = 128},  /* fstat */
    {.number = 278, .rule = RESULT, .argument = 0},             /* getrandom */
    {.number = 291, .rule = FIXED, .argument = 4, .size = 256}, /* statx */
    /* threads */
    {.number = 98, .rule = SPECIAL, .special = wake_op},       /* futex */
    {.number = 100, .rule = SPECIAL, .special = robust},       /* get_robust_list */
    {.number = 121, .rule = FIXED, .argument = 1, .size = 4},  /* sched_getparam */
    {.number = 123, .rule = RESULT, .argument = 2},            /* sched_getaffinity */
    {.number = 127, .rule = FIXED, .argument = 1, .size = 16}, /* sched_rr_get_interval */
    {.number = 168, .rule = SPECIAL, .special = two_words},    /* getcpu */
    {.number = 220, .rule = SPECIAL, .special = clone_ids},    /* clone */
    {.number = 435, .rule = SPECIAL, .special = clone3_ids},   /* clone3 */
    /* signals */
    {.number = 132, .rule = FIXED, .argument = 1, .size = 24},   /* sigaltstack */
    {.number = 134, .rule = FIXED, .argument = 2, .size = 24},   /* rt_sigaction */
    {.number = 135, .rule = FIXED, .argument = 2, .size = 8},    /* rt_sigprocmask */
    {.number = 136, .rule = SPECIAL, .special = pending},        /* rt_sigpending */
    {.number = 137, .rule = SIGNAL, .argument = 1, .size = 128}, /* rt_sigtimedwait */
    /* time */
    {.number = 101, .rule = INTERRUPTED, .argument = 1, .size = 16}, /* nanosleep */
    {.number = 102, .rule = FIXED, .argument = 1, .size = 32},       /* getitimer */
    {.number = 103, .rule = FIXED, .argument = 2, .size = 32},       /* setitimer */
    {.number = 107, .rule = FIXED, .argument = 2, .size = 4},        /* timer_create */
    {.number = 108, .rule = FIXED, .argument = 1, .size = 32},       /* timer_gettime */
    {.number = 110, .rule = FIXED, .argument = 3, .size = 32},       /* timer_settime */
    {.number = 113, .rule = FIXED, .argument = 1, .size = 16},       /* clock_gettime */
    {.number = 114, .rule = FIXED, .argument = 1, .size = 16},       /* clock_getres */
    {.number = 115, .rule = SPECIAL, .special = slept},              /* clock_nanosleep */
    {.number = 153, .rule = FIXED, .argument = 0, .size = 32},       /* times */
    {.number = 165, .rule = FIXED, .argument = 1, .size = 144},      /* getrusage */
    {.number = 169, .rule = SPECIAL, .special = times_of_day},       /* gettimeofday */
    /* the process */
    {.number = 148, .rule = SPECIAL, .special = ids},           /* getresuid */
    {.number = 150, .rule = SPECIAL, .special = ids},           /* getresgid */
    {.number = 158, .rule = SPECIAL, .special = groups},        /* getgroups */
    {.number = 160, .rule = FIXED, .argument = 0, .size = 390}, /* uname */
    {.number = 163, .rule = FIXED, .argument = 1, .size = 16},  /* getrlimit */
    {.number = 167, .rule = SPECIAL, .special = name},          /* prctl */
    {.number = 179, .rule = FIXED, .argument = 0, .size = 112}, /* sysinfo */
    {.number = 261, .rule = FIXED, .argument = 3, .size = 16},  /* prlimit64 */
    /* memory */
    {.number = 215, .rule = SPECIAL, .special = unmap},    /* munmap */
    {.number = 216, .rule = SPECIAL, .special = remap},    /* mremap */
    {.number = 222, .rule = SPECIAL, .special = map},      /* mmap */
    {.number = 232, .rule = SPECIAL, .special = core_map}, /* mincore */
    {.number = 233, .rule = SPECIAL, .special = advise},   /* madvise */
};

/* Calls that write nothing here, or what they do is the replay's to know (exit, brk, rt_sigreturn).
 */
static const uint16_t harmless[] = {
    19,  23,  24,  32,  34,  35,  36,  37,  45,  46,  47,  48,  49,  50,  52,  53,  54,
    55,  56,  57,  62,  64,  66,  68,  70,  81,  82,  83,  88,  92,  93,  94,  95,  96,
    99,  109, 111, 112, 118, 119, 120, 122, 124, 125, 126, 129, 130, 131, 133, 138, 139,
    140, 141, 154, 155, 156, 157, 164, 166, 172, 173, 174, 175, 176, 177, 178, 213, 214,
    223, 226, 227, 228, 229, 230, 231, 240, 258, 259, 260, 276, 283, 284, 293, 436, 439,
};

static int64_t outcome(const struct vs_call_made *c)
{
    return (int64_t)c->result;
}

/* Whether it succeeded; *exact is cleared if it failed half-way, so that a part may be written. */
static bool did(const struct vs_call_made *c, bool *exact)
{
    *exact = outcome(c) != -EFAULT;
    return outcome(c) >= 0 || !*exact;
}

static int put(const struct vs_call_memory *m, uint64_t addr, uint64_t size, bool exact)
{
    return addr && size ? m->wrote(m->context, addr, size, exact) : 0;
}

static int everything(const struct vs_call_memory *m)
{
    return m->wrote(m->context, 0, VS_CALL_EVERYTHING, false);
}

static uint64_t pages(uint64_t size)
{
    return size > UINT64_MAX - PAGE ? size : (size + PAGE - 1) / PAGE * PAGE;
}

/* ---- those that are like no other ------------------------------------------------------------ */

static int vector(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    enum { PARTS_MOST = 1024 };
    uint64_t left = outcome(c) > 0 && c->result <= MOST ? c->result : 0;
    for (uint64_t i = 0; i < c->args[2] && i < PARTS_MOST && left; i++) {
        struct vs_linux_iovec part;
        if (m->read(m->context, c->args[1] + i * sizeof(part), (uint8_t *)&part, sizeof(part)) !=
            sizeof(part))
            return everything(m);
        uint64_t size = part.size < left ? part.size : left;
        int err = put(m, part.base, size, true);
        if (err)
            return err;
        left -= size;
    }
    return 0;
}

static int poll_list(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    bool exact;
    int err = 0;
    if (!did(c, &exact) || c->args[1] > PAGE)
        return 0;
    for (uint64_t i = 0; i < c->args[1] && !err; i++)
        err = put(m, c->args[0] + i * sizeof(struct vs_linux_pollfd) + 6, 2, exact);
    return err;
}

static int select_sets(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    enum { DESCRIPTORS = 1024 };
    bool exact;
    uint64_t count = (uint32_t)c->args[0] < DESCRIPTORS ? (uint32_t)c->args[0] : DESCRIPTORS;
    int err = 0;
    if (!did(c, &exact))
        return 0;
    for (unsigned i = 1; i <= 3 && !err; i++)
        err = put(m, c->args[i], (count + 63) / 64 * 8, exact);
    return err;
}

static int ioctl_answer(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    static const struct {
        uint32_t request;
        uint8_t size;
    } requests[] = {{0x5401, 36}, {0x5413, 8}, {0x541b, 4}}; /* TCGETS, TIOCGWINSZ, FIONREAD */
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]) && outcome(c) >= 0; i++)
        if ((uint32_t)c->args[1] == requests[i].request)
            return put(m, c->args[2], requests[i].size, true);
    return 0;
}

static int fcntl_answer(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    enum { GETLK = 5, FLOCK_SIZE = 32 };
    return (uint32_t)c->args[1] == GETLK && outcome(c) >= 0 ? put(m, c->args[2], FLOCK_SIZE, true)
                                                            : 0;
}

static int wake_op(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    enum { WAKE_OP = 5, COMMAND = 127 };
    return (c->args[1] & COMMAND) == WAKE_OP && outcome(c) >= 0 ? put(m, c->args[4], 4, true) : 0;
}

/* Only a sleep for a time, not one until a time, tells what is left of it. */
static int slept(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    enum { ABSOLUTE = 1 };
    return outcome(c) == -EINTR && !(c->args[1] & ABSOLUTE) ? put(m, c->args[3], 16, true) : 0;
}

/* mincore: a byte for each page. */
static int core_map(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    bool exact;
    return did(c, &exact) ? put(m, c->args[2], pages(c->args[1]) / PAGE, exact) : 0;
}

static int groups(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    return c->args[0] && outcome(c) > 0 && outcome(c) <= 65536
               ? put(m, c->args[1], 4 * c->result, true)
               : 0;
}

static int name(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    enum { GET_NAME = 16 };
    return c->args[0] == GET_NAME && outcome(c) >= 0 ? put(m, c->args[1], 16, true) : 0;
}

static int pending(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    return outcome(c) >= 0 ? put(m, c->args[0], c->args[1] < 8 ? c->args[1] : 8, true) : 0;
}

/* So many bytes at each of the first arguments, or less if one is bad. */
static int at_each(const struct vs_call_made *c, const struct vs_call_memory *m, unsigned first,
                   unsigned count, const uint8_t *sizes)
{
    bool exact;
    int err = 0;
    if (!did(c, &exact))
        return 0;
    for (unsigned i = 0; i < count && !err; i++)
        err = put(m, c->args[first + i], sizes[i], exact);
    return err;
}

static int ids(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    return at_each(c, m, 0, 3, (const uint8_t[]){4, 4, 4});
}

static int two_words(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    return at_each(c, m, 0, 2, (const uint8_t[]){4, 4});
}

static int times_of_day(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    return at_each(c, m, 0, 2, (const uint8_t[]){16, 8});
}

static int robust(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    return at_each(c, m, 1, 2, (const uint8_t[]){8, 8});
}

static int map(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    return outcome(c) > 0 ? put(m, c->result, pages(c->args[1]), true) : 0;
}

static int unmap(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    return outcome(c) >= 0 ? put(m, c->args[0], pages(c->args[1]), true) : 0;
}

/* What stays where it was is as it was. */
static int remap(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    uint64_t old = pages(c->args[1]), size = pages(c->args[2]);
    if (outcome(c) <= 0)
        return 0;
    if (c->result == c->args[0]) {
        uint64_t lesser = old < size ? old : size, more = old < size ? size : old;
        return more > lesser ? put(m, c->args[0] + lesser, more - lesser, true) : 0;
    }
    int err = put(m, c->args[0], old, true);
    return err ? err : put(m, c->result, size, true);
}

/* Memory of files stays what it is: which that is, is not known here. */
static int advise(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    enum { DONTNEED = 4 };
    return c->args[2] == DONTNEED && outcome(c) >= 0 ? put(m, c->args[0], pages(c->args[1]), false)
                                                     : 0;
}

/* ---- threads --------------------------------------------------------------------------------- */

enum { CLONE = 220, CLONE3 = 435 };
enum {
    PARENT_SETTID = 0x00100000,
    CHILD_CLEARTID = 0x00200000,
    CHILD_SETTID = 0x01000000,
};

static int tell_ids(const struct vs_call_made *c, const struct vs_call_memory *m,
                    const struct vs_linux_clone *how)
{
    int err = 0;
    if (outcome(c) <= 0)
        return 0;
    if (how->flags & PARENT_SETTID)
        err = put(m, how->parent_tid, 4, true);
    return !err && how->flags & CHILD_SETTID ? put(m, how->child_tid, 4, true) : err;
}

/* What a clone was asked for. Returns false if that is not known. */
static bool get_request(const struct vs_call_made *c, const struct vs_call_memory *m,
                        struct vs_linux_clone *how)
{
    const uint64_t *a = c->args;
    if (c->number == CLONE3) {
        if (m->read(m->context, a[0], (uint8_t *)how, sizeof(*how)) != sizeof(*how))
            return false;
        how->stack += how->stack_size;
        return true;
    }
    *how = (struct vs_linux_clone){
        .flags = a[0], .stack = a[1], .parent_tid = a[2], .tls = a[3], .child_tid = a[4]};
    return true;
}

static int clone_ids(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    struct vs_linux_clone how;
    get_request(c, m, &how);
    return tell_ids(c, m, &how);
}

static int clone3_ids(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    struct vs_linux_clone how;
    if (outcome(c) <= 0)
        return 0;
    return get_request(c, m, &how) ? tell_ids(c, m, &how) : everything(m);
}

bool vs_call_starts(const struct vs_call_made *c, const struct vs_call_memory *m,
                    struct vs_call_thread *thread)
{
    struct vs_linux_clone how;
    if ((c->number != CLONE && c->number != CLONE3) || outcome(c) <= 0 || !get_request(c, m, &how))
        return false;
    *thread = (struct vs_call_thread){how.stack, how.flags & CHILD_CLEARTID ? how.child_tid : 0};
    return true;
}

int vs_call_signal(const struct vs_call_made *c)
{
    static const struct {
        uint16_t number;
        uint8_t argument;
    } senders[] = {{129, 1}, {130, 1}, {131, 2}, {138, 1}, {240, 2}};
    /* kill, tkill, tgkill, rt_sigqueueinfo, rt_tgsigqueueinfo */
    for (size_t i = 0; i < sizeof(senders) / sizeof(senders[0]); i++)
        if (senders[i].number == c->number) {
            uint32_t signal = (uint32_t)c->args[senders[i].argument];
            return signal <= VS_LINUX_SIGNALS ? (int)signal : 0;
        }
    return 0;
}

/* ---- all ------------------------------------------------------------------------------------- */

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static size_t find_row(uint64_t number)
{
    size_t i = 0;
    while (i < ROWS && rows[i].number != number)
        i++;
    return i;
}

bool vs_call_is_known(uint64_t number)
{
    for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
        if (harmless[i] == number)
            return true;
    return find_row(number) < ROWS;
}

int vs_call_tell(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    size_t i = find_row(c->number);
    if (i == ROWS)
        return outcome(c) < 0 || vs_call_is_known(c->number) ? 0 : everything(m);
    uint64_t addr = c->args[rows[i].argument];
    switch ((enum rule)rows[i].rule) {
    case NOTHING:
        return 0;
    case RESULT:
        return outcome(c) > 0 && c->result <= MOST ? put(m, addr, c->result, true) : 0;
    case FIXED:
        return outcome(c) >= 0 ? put(m, addr, rows[i].size, true) : 0;
    case SIGNAL:
        return outcome(c) > 0 ? put(m, addr, rows[i].size, true) : 0;
    case INTERRUPTED:
        return outcome(c) == -EINTR ? put(m, addr, rows[i].size, true) : 0;
    case SPECIAL:
        return rows[i].special(c, m);
    }
    return 0;
}
