/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel does to the program's memory without Valgrind announcing it. Valgrind's wrappers
 * report what a tool needs to find undefined values, which leaves out words that the program had
 * set before. It does no harm to record a byte that the kernel left alone. */
#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"
#include "tool.h"

/* Offered by Valgrind's core, whose headers Debian does not install. */
extern SysRes VG_(do_syscall)(UWord number, RegWord, RegWord, RegWord, RegWord, RegWord, RegWord,
                              RegWord, RegWord);

/* linux/mman.h, linux/futex.h, linux/prctl.h; Valgrind's copies lack them */
#define ADVICE_DONTNEED    4
#define ADVICE_FREE        8
#define ADVICE_REMOVE      9
#define ADVICE_DROP_LOCKED 24
#define FUTEX_ID           0x3fffffffu
#define FUTEX_DIED         0x40000000u
#define FUTEX_CONTENDED    0x80000000u
#define FUTEX_COMMAND      0x7f
#define PRCTL_AUXILIARY    0x41555856
#define ROBUST_ENTRIES_MAX 2048

/* If nothing better is known about a call, it may write this many bytes from where each argument
 * points. */
#define GUESS 1024
/* At most this many elements of a vector are looked at. */
#define VECTOR_MAX 1024

/* The argument of a call that points to this many bytes. */
static const struct {
    UShort call;
    UChar arg, size;
} written[] = {
    {__NR_accept, 2, 4},
    {__NR_accept4, 2, 4},
    {__NR_getsockname, 2, 4},
    {__NR_getpeername, 2, 4},
    {__NR_getsockopt, 4, 4},
    {__NR_recvfrom, 5, 4},
    {__NR_recvmsg, 1, 56},
    {__NR_recvmmsg, 4, 16},
    {__NR_select, 4, 16},
    {__NR_pselect6, 4, 16},
    {__NR_ppoll, 2, 16},
    {__NR_sendfile, 2, 8},
    {__NR_splice, 1, 8},
    {__NR_splice, 3, 8},
    {__NR_copy_file_range, 1, 8},
    {__NR_copy_file_range, 3, 8},
    {__NR_nanosleep, 1, 16},
    {__NR_clock_nanosleep, 3, 16},
    {__NR_wait4, 1, 4},
    {__NR_wait4, 3, 144},
    {__NR_waitid, 2, 128},
    {__NR_waitid, 4, 144},
    {__NR_rt_sigtimedwait, 1, 128},
    {__NR_fcntl, 2, 32},
    {__NR_prctl, 1, 8},
    {__NR_prctl, 2, 4},
};

static Bool accessible(Addr a, SizeT size)
{
    return a && VG_(am_is_valid_for_client)(a, size, VKI_PROT_READ | VKI_PROT_WRITE);
}

static void note(ThreadId tid, Addr a, SizeT size)
{
    if (accessible(a, size))
        external(tid, a, size);
}

/* Calls in which the kernel changes the lock itself. */
static void note_futex(ThreadId tid, const struct thread *t)
{
    switch (t->args[1] & FUTEX_COMMAND) {
    case VKI_FUTEX_WAKE_OP:
    case VKI_FUTEX_CMP_REQUEUE_PI:
        note(tid, t->args[4], 4);
        break;
    case VKI_FUTEX_LOCK_PI:
    case VKI_FUTEX_UNLOCK_PI:
    case VKI_FUTEX_TRYLOCK_PI:
    case VKI_FUTEX_WAIT_REQUEUE_PI:
        note(tid, t->args[0], 4);
        break;
    default:
        break;
    }
}

/* Sets of descriptors, in words. */
static void declare_sets(ThreadId tid, const struct thread *t)
{
    ULong bytes = t->args[0] < 1u << 20 ? (t->args[0] + 63) / 64 * 8 : 0;

    for (UInt i = 1; i <= 3; i++)
        watch_declared(tid, t->args[i], bytes);
}

/* Messages, whose headers are written too. */
static void declare_messages(ThreadId tid, const struct thread *t)
{
    if (t->args[2] <= VECTOR_MAX)
        watch_declared(tid, t->args[1], 64 * t->args[2]);
}

/* The call with which a program asks for what it was given at its start. */
static void declare_auxiliary(ThreadId tid, const struct thread *t)
{
    if (t->args[0] == PRCTL_AUXILIARY)
        watch_declared(tid, t->args[1], t->args[2]);
}

/* With this call a program can also write to itself, by the number of its process or of a
 * thread. */
static void declare_remote(ThreadId tid, const struct thread *t)
{
    const struct vki_iovec *v = (const struct vki_iovec *)t->args[3];
    Bool own = t->args[0] == (ULong)VG_(getpid)();

    if (t->args[4] > VECTOR_MAX ||
        !VG_(am_is_valid_for_client)(t->args[3], t->args[4] * sizeof(*v), VKI_PROT_READ))
        return;
    for (UInt i = 0; i < t->args[4]; i++)
        if (own)
            watch_announced(tid, (Addr)v[i].iov_base, v[i].iov_len);
        else
            watch_declared(tid, (Addr)v[i].iov_base, v[i].iov_len);
}

/* The request's number says how much is written, if it follows the convention; lists may follow. */
static void declare_control(ThreadId tid, const struct thread *t)
{
    SizeT size = _VKI_IOC_SIZE(t->args[1]);

    if (!size || (_VKI_IOC_DIR(t->args[1]) & _VKI_IOC_READ))
        watch_declared(tid, t->args[2], size > GUESS ? size : GUESS);
}

void kernel_may_write(ThreadId tid, Bool loose)
{
    const struct thread *t = &the.threads[tid];

    watch_begin(tid, loose);
    switch (t->call) {
    case __NR_select:
    case __NR_pselect6:
        declare_sets(tid, t);
        break;
    case __NR_recvmmsg:
    case __NR_sendmmsg:
        declare_messages(tid, t);
        break;
    case __NR_process_vm_writev:
        declare_remote(tid, t);
        break;
    case __NR_prctl:
        declare_auxiliary(tid, t);
        break;
    case __NR_ioctl:
        declare_control(tid, t);
        break;
    default:
        break;
    }
    for (UInt i = 0; i < sizeof(written) / sizeof(written[0]); i++)
        if (written[i].call == t->call)
            watch_declared(tid, t->args[written[i].arg], written[i].size);
    for (UInt i = 0; i < 6; i++)
        watch_guessed(tid, t->args[i], GUESS);
}

void kernel_wrote(ThreadId tid)
{
    const struct thread *t = &the.threads[tid];

    if (t->call == __NR_futex)
        note_futex(tid, t);
    watch_end(tid);
}

void kernel_replaced(ThreadId tid)
{
    const struct thread *t = &the.threads[tid];
    struct wire_map *map;

    if (t->call != __NR_madvise ||
        (t->args[2] != ADVICE_DONTNEED && t->args[2] != ADVICE_FREE &&
         t->args[2] != ADVICE_REMOVE && t->args[2] != ADVICE_DROP_LOCKED))
        return;
    /* With MADV_FREE the contents may go at some time, or never; with MADV_DONTNEED they go now. */
    if (t->args[2] == ADVICE_FREE)
        VG_(do_syscall)(__NR_madvise, t->args[0], t->args[1], ADVICE_DONTNEED, 0, 0, 0, 0, 0);
    map = ring_record(WIRE_MAP, 0, sizeof(*map));
    if (map)
        *map = (struct wire_map){t->args[0], VG_PGROUNDUP(t->args[1]), 0,
                                 WIRE_MAP_READ | WIRE_MAP_WRITE, 0};
    ring_done();
    if (the.inputs)
        inputs_mapped(t->args[0], VG_PGROUNDUP(t->args[1]), MAPPED_NOW);
}

/* ---- the end of a thread --------------------------------------------------------------------- */

static void wake(Addr word)
{
    VG_(do_syscall)(__NR_futex, word, VKI_FUTEX_WAKE, 1, 0, 0, 0, 0, 0);
}

/* Marks a lock that the thread held, for the next thread that asks for it. */
static void release(ThreadId tid, Addr lock, UInt system_id, Bool observed)
{
    UInt *word = (UInt *)lock, had;

    if ((lock & 3) || !accessible(lock, 4) || (*word & FUTEX_ID) != system_id)
        return;
    had = *word;
    *word = (had & FUTEX_CONTENDED) | FUTEX_DIED;
    if (observed)
        external(tid, lock, 4);
    if (had & FUTEX_CONTENDED)
        wake(lock);
}

/* A list of locks, in the form that the system call get_robust_list(2) describes. The lowest bit of
 * an address is set for locks with priority inheritance, which are the kernel's to hand on. */
static void release_locks(ThreadId tid, UInt system_id, Bool observed)
{
    const Addr head = the.threads[tid].locks;
    const ULong *list = (const ULong *)head;
    ULong entry, offset, pending;
    UInt n = 0;

    if (!accessible(head, 24))
        return;
    offset = list[1];
    pending = list[2];
    for (entry = list[0]; (entry & ~1ull) != head && n++ < ROBUST_ENTRIES_MAX;) {
        Bool inherits = entry & 1;

        entry &= ~1ull;
        if (!accessible(entry, 8))
            return;
        if (!inherits && entry != pending)
            release(tid, entry + offset, system_id, observed);
        entry = *(const ULong *)entry;
    }
    if (pending && !(pending & 1))
        release(tid, pending + offset, system_id, observed);
}

void kernel_ends(ThreadId tid, UInt system_id, Bool observed)
{
    Addr at = the.threads[tid].clear_tid;

    release_locks(tid, system_id, observed);
    if (!accessible(at, 4))
        return;
    VG_(do_syscall)(__NR_set_tid_address, 0, 0, 0, 0, 0, 0, 0, 0);
    *(UInt *)at = 0;
    if (observed)
        external(tid, at, 4);
    wake(at);
}
