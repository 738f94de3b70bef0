/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The program's children. If they are followed, a child is recorded from the end of the call that
 * made it, as a run of its own: its run begins with all that is mapped, and with the one thread
 * that there is. */
#include "pub_tool_aspacehl.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_clientstate.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"
#include "pub_tool_xarray.h"
#include "tool.h"

/* Offered by Valgrind's core, whose headers Debian does not install. */
extern Bool VG_(clo_trace_children);

/* linux/wait.h and the kernel's siginfo: how a child ended, and where waitid puts that. */
#define CHILD_EXITED      1
#define CHILD_KILLED      2
#define CHILD_DUMPED      3
#define SIGINFO_SIZE      128
#define SIGINFO_CODE_AT   2 /* in words */
#define SIGINFO_PID_AT    4
#define SIGINFO_STATUS_AT 6

/* The most bytes of the program's words that are told. */
#define COMMAND_MAX 32768u

/* ---- making a child -------------------------------------------------------------------------- */

void forking(ThreadId tid)
{
    ring_drop_child();
    if (the.follow)
        ring_ask_child();
}

void forked_parent(ThreadId tid)
{
    ring_simple(the.child[0] < 0 ? WIRE_FORK : WIRE_MADE, tid);
    shared_forked();
    ring_drop_child();
}

void forked_child(ThreadId tid)
{
    if (the.child[0] >= 0) {
        ring_adopt();
        the.silent = True;
        the.newborn = True;
        return;
    }
    VG_(clo_trace_children) = False;
    ring_abandon();
    /* The translations that it inherited are thrown away when it runs, because that is not possible
     * here. */
    the.stop_asked = True;
}

/* ---- the child ------------------------------------------------------------------------------- */

static void tell_mappings(void)
{
    Int count = 0;
    Addr *starts = VG_(get_segment_starts)(SkFileC | SkAnonC | SkShmC, &count);

    for (Int i = 0; i < count; i++) {
        const NSegment *s = VG_(am_find_nsegment)(starts[i]);

        if (s)
            map(s->start, s->end - s->start + 1, rights(s->hasR, s->hasW, s->hasX), MAPPED_BEFORE);
    }
    VG_(free)(starts);
}

/* The word that the kernel is to clear when the child's thread ends. */
static ULong clear_tid(const struct thread *t)
{
    if (t->call == __NR_clone)
        return t->args[0] & VKI_CLONE_CHILD_CLEARTID ? t->args[3] : 0;
    return 0; /* Valgrind does not know clone3 */
}

void newborn_begins(ThreadId tid)
{
    ULong word = clear_tid(&the.threads[tid]);

    the.newborn = False;
    the.silent = False;
    the.anew = False;
    the.stop_asked = False;
    the.stream = 0;
    VG_(memset)(the.threads, 0, VG_N_THREADS * sizeof(*the.threads));
    the.threads[tid].clear_tid = word;
    ring_introduce();
    region_fork();
    blocks_forget();
    say_hello();
    tell_mappings();
    the.forked = True;
    shared_anew();
    thread_begins(tid);
}

/* ---- what is told of a process --------------------------------------------------------------- */

static UInt add_word(HChar *to, UInt used, const HChar *word)
{
    UInt size = VG_(strlen)(word) + 1, room = COMMAND_MAX - used;

    if (!room)
        return used;
    if (size > room)
        size = room;
    VG_(memcpy)(to + used, word, size);
    to[used + size - 1] = 0;
    return used + size;
}

void tell_command(void)
{
    static HChar words[COMMAND_MAX];
    UInt used = add_word(words, 0, VG_(args_the_exename) ? VG_(args_the_exename) : "");
    Word count = VG_(sizeXA)(VG_(args_for_client));
    ULong *bytes;

    for (Word i = 0; i < count; i++)
        used = add_word(words, used, *(HChar **)VG_(indexXA)(VG_(args_for_client), i));
    bytes = ring_record(WIRE_COMMAND, 0, sizeof(*bytes) + used);
    if (bytes) {
        *bytes = used;
        VG_(memcpy)(bytes + 1, words, used);
    }
    ring_done();
}

static void tell_end(UInt process, UInt status)
{
    struct wire_reaped *reaped = ring_record(WIRE_REAPED, 0, sizeof(*reaped));

    if (reaped)
        *reaped = (struct wire_reaped){process, status};
    ring_done();
}

static void reaped_by_wait4(const struct thread *t, ULong process)
{
    UInt status;

    if (process && copy_safely(&status, t->args[1], sizeof(status)) == sizeof(status) &&
        (status & 0xff) != 0x7f && status != 0xffff) /* neither stopped nor continued */
        tell_end(process, status);
}

static void reaped_by_waitid(const struct thread *t)
{
    UInt info[SIGINFO_SIZE / 4], status;

    if (copy_safely(info, t->args[2], sizeof(info)) != sizeof(info))
        return;
    status = info[SIGINFO_STATUS_AT];
    if (info[SIGINFO_CODE_AT] == CHILD_EXITED)
        tell_end(info[SIGINFO_PID_AT], (status & 0xff) << 8);
    else if (info[SIGINFO_CODE_AT] == CHILD_KILLED || info[SIGINFO_CODE_AT] == CHILD_DUMPED)
        tell_end(info[SIGINFO_PID_AT], status & 0x7f);
}

void tell_reaped(ThreadId tid, ULong result)
{
    const struct thread *t = &the.threads[tid];

    if (t->call == __NR_wait4 && t->args[1])
        reaped_by_wait4(t, result);
    else if (t->call == __NR_waitid && t->args[2])
        reaped_by_waitid(t);
}

/* ---- how it ends ----------------------------------------------------------------------------- */

/* VG_(client_exit) and VG_(kill_self) in Valgrind's core, which calls them to end the process as
 * the program wanted, or as a signal would have; and what is called instead of them. */
extern void __real_vgPlain_client_exit(Int status) __attribute__((noreturn));
extern void __real_vgPlain_kill_self(Int number);
/* VG_(nuke_all_threads_except), which it calls first if a signal that nothing handles ends the
 * process. */
extern void __real_vgPlain_nuke_all_threads_except(ThreadId tid, UInt why);
void __wrap_vgPlain_nuke_all_threads_except(ThreadId tid, UInt why);
void __wrap_vgPlain_client_exit(Int status);
void __wrap_vgPlain_kill_self(Int number);

void __wrap_vgPlain_nuke_all_threads_except(ThreadId tid, UInt why)
{
    /* The thread is within a block, and does not come to where it could be said. */
    if (the.running)
        ring_fault(VG_(get_IP)(the.running));
    __real_vgPlain_nuke_all_threads_except(tid, why);
}

static void note_ending(UInt status)
{
    if (the.ring)
        the.ring->ending = WIRE_ENDED | status;
}

void __wrap_vgPlain_client_exit(Int status)
{
    note_ending((status & 0xff) << 8);
    __real_vgPlain_client_exit(status);
}

void __wrap_vgPlain_kill_self(Int number)
{
    note_ending(number & 0x7f);
    __real_vgPlain_kill_self(number);
}
