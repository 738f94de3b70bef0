/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pub_tool_aspacemgr.h"
#include "pub_tool_clientstate.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"
#include "tool.h"
#include "valgrind.h"
#include "vestige/mark.h"

/* Offered by Valgrind's core, whose headers Debian does not install. */
extern UWord *VG_(client_auxv);
extern Int VG_(safe_fd)(Int fd);
extern Int VG_(fcntl)(Int fd, Int cmd, Addr arg);

/* Where Valgrind's messages go. Only the first member matters here. */
extern struct {
    Int fd;
} VG_(log_output_sink);

struct tool the = {.socket = -1, .memory = -1, .log = -1, .child = {-1, -1, -1}};

/* The most bytes that one WIRE_EXTERNAL holds. */
#define PIECE (WIRE_RECORD_MAX / 2)
/* How often threads stop until what they did is handed over, if only inputs are recorded. They do
 * so at system calls, and when their time is over. */
#define STOPS 64
/* The bytes that VG_USERREQ__MAP_IP_TO_SRCLOC writes. */
#define SOURCE_PLACE 64

/* ---- registers ----------------------------------------------------------------------------- */

struct lane *lane_of(GuestState *gst)
{
    return (struct lane *)(gst + 1);
}

void registers_of(const GuestState *gst, struct wire_regs *regs)
{
    VG_(memset)(regs, 0, sizeof(*regs));
    VG_(memcpy)(regs->gpr, &gst->guest_RAX, sizeof(regs->gpr));
    regs->rip = shown_address(gst->guest_RIP);
    regs->rflags = LibVEX_GuestAMD64_get_rflags(gst);
    regs->fs_base = gst->guest_FS_CONST;
    regs->gs_base = gst->guest_GS_CONST;
    VG_(memcpy)(regs->fpr, gst->guest_FPREG, sizeof(regs->fpr));
    VG_(memcpy)(regs->fpr_used, gst->guest_FPTAG, sizeof(regs->fpr_used));
    regs->fpr_top = gst->guest_FTOP;
    regs->fpr_round = gst->guest_FPROUND;
    regs->fpr_conditions = gst->guest_FC3210;
    regs->sse_round = gst->guest_SSEROUND;
    VG_(memcpy)(regs->ymm, &gst->guest_YMM0, sizeof(regs->ymm));
}

void thread_registers(ThreadId tid, struct wire_regs *regs)
{
    GuestState gst;

    VG_(get_shadow_regs_area)(tid, (UChar *)&gst, 0, 0, sizeof(gst));
    registers_of(&gst, regs);
}

void lane_get(ThreadId tid, struct lane *lane)
{
    if (tid == the.running)
        VG_(get_shadow_regs_area)(tid, (UChar *)lane, 1, 0, sizeof(*lane));
    else
        *lane = the.threads[tid].lane;
}

void lane_set(ThreadId tid, const struct lane *lane)
{
    if (tid == the.running)
        VG_(set_shadow_regs_area)(tid, 1, 0, sizeof(*lane), (const UChar *)lane);
    else
        the.threads[tid].lane = *lane;
}

/* Whether what the kernel does for a thread is recorded. */
static Bool observed(ThreadId tid)
{
    return !the.silent && the.mode == MODE_ON && tid && !the.threads[tid].off;
}

/* Whether the kernel's writes for a thread are told, although it is in a gap: other threads are
 * recorded. */
static Bool is_stray(ThreadId tid)
{
    return !the.silent && inputs_follow() && tid && the.threads[tid].off;
}

/* ---- scheduling ---------------------------------------------------------------------------- */

/* What Valgrind keeps in a signal's frame (its struct vg_sigframe) after the part that the program
 * may see. It does not report this part as written. */
struct kept {
    UInt magic, flags;
    Int number;
    vki_sigset_t mask;
    GuestState vex, shadow1, shadow2;
    UInt magic_end;
};

static void resume(ThreadId tid)
{
    struct thread *t = &the.threads[tid];
    struct wire_regs *regs;

    if (!t->resuming)
        return;
    t->resuming = False;
    if (t->kept)
        external(tid, t->kept, sizeof(struct kept));
    t->kept = 0;
    regs = ring_record(WIRE_RESUME, tid, sizeof(*regs));
    if (regs)
        thread_registers(tid, regs);
    ring_done();
}

/* If the thread stopped because a block asked for room, the scheduler throws this away. */
static void set_discard(ThreadId tid, Addr start, ULong length)
{
    ULong range[2] = {start, length};

    VG_(set_shadow_regs_area)
    (tid, 0, offsetof(GuestState, guest_CMSTART), sizeof(range), (const UChar *)range);
}

/* The thread comes out of a gap: its next block is recorded. */
static void end_gap(ThreadId tid, struct lane *lane)
{
    struct wire_gap *gap = ring_record(WIRE_GAP, tid, sizeof(*gap));

    if (gap) {
        gap->skipped = lane->counted;
        gap->window = the.window;
        thread_registers(tid, &gap->regs);
    }
    ring_done();
    lane->counted = lane->left = lane->at = lane->iterations = 0;
    the.threads[tid].off = False;
}

/* Records what the thread got, if its last block ended with a client request, and what Valgrind
 * wrote for it. */
static void end_request(ThreadId tid)
{
    struct lane lane;
    GuestState gst;
    ULong *result, args[3];

    lane_get(tid, &lane);
    if (!lane.requested)
        return;
    lane.requested = 0;
    lane_set(tid, &lane);
    VG_(get_shadow_regs_area)(tid, (UChar *)&gst, 0, 0, sizeof(gst));
    result = ring_record(WIRE_REQUEST, tid, sizeof(*result));
    if (result)
        *result = gst.guest_RDX;
    ring_done();
    if (copy_safely(args, gst.guest_RAX, sizeof(args)) == sizeof(args) &&
        args[0] == VG_USERREQ__MAP_IP_TO_SRCLOC)
        external(tid, args[2], SOURCE_PLACE);
}

void end_requests(void)
{
    for (ThreadId i = 1; i < VG_N_THREADS; i++)
        if (the.threads[i].known)
            end_request(i);
}

/* Inputs are few, and would wait in the buffer for long: whatever ends the recorder loses them. */
static Bool is_due(void)
{
    if (!the.light || the.window_count || ++the.stops < STOPS)
        return False;
    the.stops = 0;
    return the.cursor != the.base;
}

static void start_client_code(ThreadId tid, ULong blocks)
{
    struct thread *t = &the.threads[tid];
    struct lane lane;

    the.turns++;
    lane_collect();
    end_request(tid);
    if (the.wishes && !the.silent)
        region_wish(__atomic_load_n(&the.ring->wish, __ATOMIC_RELAXED));
    if (the.renew && the.mode == MODE_ON && !the.stop_asked)
        last_renew(tid);
    lane_get(tid, &lane);
    if (the.anew && the.mode == MODE_ON)
        inputs_anew(tid);
    resume(tid);
    if (the.digests)
        digests_due(tid);
    if (tid != the.stream) {
        ring_simple(WIRE_RUN, tid);
        the.stream = tid;
    }
    if (t->off && the.mode == MODE_ON && region_wants(VG_(get_IP)(tid)))
        end_gap(tid, &lane);
    if (is_due() || the.cursor > the.limit)
        ring_flush(False);
    lane.cursor = the.cursor;
    /* Nothing is recorded from now on. The next block must end up in stop_client_code, where
     * translations can be thrown away. */
    lane.limit = t->off || the.stop_asked ? 0 : the.limit;
    if (!the.stop_asked)
        set_discard(tid, 0, 0);
    the.from = VG_(get_IP)(tid);
    the.over = the.mode == MODE_DONE;
    the.running = tid;
    lane_set(tid, &lane);
    ring_publish();
}

static void stop_client_code(ThreadId tid, ULong blocks)
{
    lane_collect();
    if (the.triggered) {
        the.triggered = False;
        ring_simple(WIRE_TRIGGERED, tid);
    }
    if (the.stop_asked && the.mode != MODE_DONE) {
        the.mode = MODE_DONE;
        the.forgotten = False;
    }
    if (the.stop_asked && !the.forgotten)
        set_discard(tid, 0x1000, ~(ULong)0xfff);
}

/* Translations were thrown away. */
static void discarded(Addr start, VexGuestExtents extents)
{
    the.forgotten = True;
}

ThreadId lane_stop(void)
{
    struct lane lane;
    ThreadId tid = the.running;
    Bool done = the.stop_asked;

    if (!tid)
        return 0;
    lane_get(tid, &lane);
    the.running = 0;
    lane_set(tid, &lane);
    the.cursor = lane.cursor;
    if (!done)
        the.threads[tid].off = lane.limit == 0;
    return tid;
}

void lane_collect(void)
{
    ThreadId tid = lane_stop();

    if (tid && the.inputs && !the.threads[tid].off)
        inputs_ran(tid);
}

/* ---- threads ------------------------------------------------------------------------------- */

void thread_begins(ThreadId tid)
{
    struct wire_start *start;

    the.threads[tid] = (struct thread){.known = True,
                                       .off = the.mode != MODE_ON,
                                       .system_id = VG_(gettid)(),
                                       .clear_tid = the.threads[tid].clear_tid};
    watch_drop(tid);
    start = ring_record(WIRE_START, tid, sizeof(*start));
    if (start) {
        start->system_id = the.threads[tid].system_id;
        thread_registers(tid, &start->regs);
    }
    ring_done();
}

void external(ThreadId tid, Addr a, SizeT size)
{
    if (tid && the.inputs && the.threads[tid].off) {
        inputs_content(a, size);
        return;
    }
    while (size) {
        SizeT n = size < PIECE ? size : PIECE;
        struct wire_external *x = ring_record(WIRE_EXTERNAL, tid, sizeof(*x) + n);

        if (!x)
            return;
        x->addr = a;
        x->size = copy_safely(x + 1, a, n);
        ring_done();
        a += n;
        size -= n;
    }
}

/* Tells how long the gap was in which a thread ends. */
static void settle_gap(ThreadId tid)
{
    struct lane lane;

    lane_collect();
    if (the.silent || the.stop_asked || the.mode == MODE_DONE || !the.threads[tid].off)
        return;
    lane_get(tid, &lane);
    if (!lane.counted)
        return;
    end_gap(tid, &lane);
    lane_set(tid, &lane);
}

static void thread_ends(ThreadId tid)
{
    ULong *status;

    lane_collect();
    end_request(tid);
    kernel_ends(tid, VG_(gettid)(), observed(tid) || is_stray(tid));
    settle_gap(tid);
    status = ring_record(WIRE_EXIT, tid, sizeof(*status));
    if (status)
        *status = the.threads[tid].exit_code;
    ring_done();
    the.threads[tid].known = False;
    the.threads[tid].clear_tid = 0;
}

/* ---- system calls -------------------------------------------------------------------------- */

static void keep_over_exec(Bool keep)
{
    const Int fds[] = {the.socket, the.memory, the.log};

    for (UInt i = 0; i < 3; i++)
        VG_(fcntl)(fds[i], VKI_F_SETFD, keep ? 0 : VKI_FD_CLOEXEC);
}

/* All threads end with the exec if it succeeds; if it fails, they are where they were. */
static void settle_gaps(void)
{
    for (ThreadId i = 1; i < VG_N_THREADS; i++)
        if (the.threads[i].known) {
            Bool off;

            lane_collect();
            end_request(i);
            off = the.threads[i].off;
            settle_gap(i);
            the.threads[i].off = off;
        }
}

/* Prepares what the next program needs to stay connected to the recorder: descriptors that stay
 * open, and, in the options' texts, their numbers and how far the windows have come. */
static void before_exec(void)
{
    VG_(sprintf)(the.fds, "%08d,%08d,%08d", the.socket, the.memory, the.log);
    keep_over_exec(True);
    settle_gaps();
    ring_flush(False);
    /* The next program finds an empty ring. */
    while (!the.silent && the.free < WIRE_BUFFERS)
        ring_wait();
    region_keep();
    limits_keep();
}

static void before_syscall(ThreadId tid, UInt number, UWord *args, UInt count)
{
    struct thread *t = &the.threads[tid];
    struct wire_signal *back;

    for (UInt i = 0; i < 6; i++)
        t->args[i] = i < count ? args[i] : 0;
    t->call = number;
    t->in_call = True;
    watch_drop(tid);
    limits_before(tid);
    if (number != __NR_rt_sigreturn) {
        if (observed(tid))
            kernel_may_write(tid, False);
        else if (the.inputs && !the.silent && the.mode != MODE_DONE)
            kernel_may_write(tid, True);
    }
    switch (number) {
    case __NR_exit:
    case __NR_exit_group:
        t->exit_code = args[0];
        if (number == __NR_exit_group && the.digests)
            digests_end();
        break;
    case __NR_execve:
    case __NR_execveat:
        if (!the.silent)
            before_exec();
        if (the.silent) {
            keep_over_exec(False);
            limits_give(True);
        }
        break;
    case __NR_rt_sigaction:
        if (args[1])
            inputs_handler(args[0], args[1]);
        break;
    case __NR_rt_sigreturn:
        if (!observed(tid))
            break;
        back = ring_record(WIRE_RETURN, tid, sizeof(*back));
        if (back) {
            back->number = 0;
            thread_registers(tid, &back->regs);
        }
        ring_done();
        t->resuming = True;
        break;
    default:
        break;
    }
}

static void after_syscall(ThreadId tid, UInt number, UWord *args, UInt count, SysRes result)
{
    struct thread *t = &the.threads[tid];
    struct wire_syscall *call;
    GuestState gst;

    if (the.newborn) {
        newborn_begins(tid);
        return;
    }
    t->in_call = False;
    ring_drop_child(); /* if the fork failed */
    if (number == __NR_set_tid_address)
        t->clear_tid = t->args[0];
    if (number == __NR_set_robust_list)
        t->locks = t->args[0];
    /* It failed, or there would be no after. */
    if (number == __NR_execve || number == __NR_execveat) {
        if (the.silent)
            limits_give(False);
        else
            keep_over_exec(False);
    }
    limits_after(tid, !sr_isError(result));
    if (!sr_isError(result)) {
        kernel_replaced(tid);
        shared_mapped(tid, sr_Res(result));
    }
    if (the.follow && !sr_isError(result))
        tell_reaped(tid, sr_Res(result));
    if (number == __NR_rt_sigreturn)
        return;
    if (is_stray(tid))
        kernel_wrote(tid);
    if (!observed(tid)) {
        watch_drop(tid);
        return;
    }
    kernel_wrote(tid);
    VG_(get_shadow_regs_area)(tid, (UChar *)&gst, 0, 0, sizeof(gst));
    call = ring_record(WIRE_SYSCALL, tid, sizeof(*call));
    if (call) {
        call->number = number;
        VG_(memcpy)(call->args, t->args, sizeof(call->args));
        call->result = sr_isError(result) ? -(ULong)sr_Err(result) : sr_Res(result);
        call->rcx = gst.guest_RCX;
        call->r11 = gst.guest_R11;
        call->fs_base = gst.guest_FS_CONST;
        call->gs_base = gst.guest_GS_CONST;
    }
    ring_done();
}

/* The creator's system call says which word is to be cleared when the new thread ends. */
static void thread_created(ThreadId tid, ThreadId child)
{
    ULong flags, word;
    const ULong *args = the.threads[tid].args;

    the.threads[child].clear_tid = 0;
    if (tid == VG_INVALID_THREADID)
        return;
    flags = args[0];
    word = args[3];
    /* clone3 has its arguments in memory */
    if (the.threads[tid].call == __NR_clone3 &&
        VG_(am_is_valid_for_client)(args[0], 24, VKI_PROT_READ)) {
        flags = ((const ULong *)args[0])[0];
        word = ((const ULong *)args[0])[2];
    }
    if (flags & VKI_CLONE_CHILD_CLEARTID)
        the.threads[child].clear_tid = word;
}

static void post_mem_write(CorePart part, ThreadId tid, Addr a, SizeT size)
{
    if (tid == 0 || tid >= VG_N_THREADS)
        tid = the.stream;
    if (!(observed(tid) || is_stray(tid)) || part == Vg_CoreClientReq)
        return;
    if (part != Vg_CoreSysCall || !watch_announced(tid, a, size))
        external(tid, a, size);
    if (part == Vg_CoreSignal && the.threads[tid].resuming)
        the.threads[tid].kept = a + size;
}

static void pre_mem_write(CorePart part, ThreadId tid, const HChar *what, Addr a, SizeT size)
{
    if (part == Vg_CoreSysCall && tid && tid < VG_N_THREADS)
        watch_declared(tid, a, size);
}

/* Much of what a call reads, it also writes. */
static void pre_mem_read(CorePart part, ThreadId tid, const HChar *what, Addr a, SizeT size)
{
    if (part == Vg_CoreSysCall && tid && tid < VG_N_THREADS)
        watch_guessed(tid, a, size);
}

/* ---- signals ------------------------------------------------------------------------------- */

static void before_signal(ThreadId tid, Int number, Bool alternate_stack)
{
    struct wire_signal *signal;

    the.threads[tid].in_call = False;
    if (number == the.signal && the.mode != MODE_ON && the.mode != MODE_DONE) {
        region_wish(WIRE_WISH_ON);
        ring_simple(WIRE_TRIGGERED, tid);
    }
    if (is_stray(tid)) {
        watch_end(tid);
        the.threads[tid].resuming = True;
    }
    if (!observed(tid))
        return;
    ring_fault(VG_(get_IP)(tid));
    end_request(tid);
    resume(tid);
    /* A call that is restarted after the handler has no end of its own. */
    watch_end(tid);
    signal = ring_record(WIRE_SIGNAL, tid, sizeof(*signal));
    if (signal) {
        signal->number = number;
        thread_registers(tid, &signal->regs);
    }
    ring_done();
    the.threads[tid].resuming = True;
    if (number == the.signal && the.last && !the.stop_asked) {
        ring_simple(WIRE_TRIGGERED, tid);
        region_wish(WIRE_WISH_STOP);
    }
}

/* ---- mappings ------------------------------------------------------------------------------ */

/* elf.h */
#define AUX_ENTRY 9

/* Whether it belongs to the file that contains the program's entry point. */
static Bool is_main(const NSegment *segment)
{
    const UWord *aux = VG_(client_auxv);
    const NSegment *entry;

    while (aux && aux[0] && aux[0] != AUX_ENTRY)
        aux += 2;
    entry = aux && aux[0] ? VG_(am_find_nsegment)(aux[1]) : NULL;
    return entry && entry->dev == segment->dev && entry->ino == segment->ino;
}

void tell_map(Addr a, SizeT length, UInt flags)
{
    const NSegment *segment = flags & WIRE_MAP_GONE ? NULL : VG_(am_find_nsegment)(a);
    const HChar *path = segment ? VG_(am_get_filename)(segment) : NULL;
    UInt size = path ? VG_(strlen)(path) : 0;
    struct wire_map *m = ring_record(WIRE_MAP, 0, sizeof(*m) + size);

    if (path && is_main(segment))
        flags |= WIRE_MAP_MAIN;
    if (!m)
        return;
    *m = (struct wire_map){a, length, path ? segment->offset + (a - segment->start) : 0, flags,
                           size};
    VG_(memcpy)(m + 1, path, size);
    ring_done();
}

void map(Addr a, SizeT length, UInt flags, enum mapped when)
{
    const NSegment *segment = flags & WIRE_MAP_GONE ? NULL : VG_(am_find_nsegment)(a);

    tell_map(a, length, flags);
    region_drop(a, length);
    if (the.silent)
        return;
    if (the.inputs && !(flags & WIRE_MAP_GONE))
        inputs_mapped(a, length, when);
    if (the.asks && segment && VG_(am_get_filename)(segment) && (flags & WIRE_MAP_EXEC))
        ring_flush(True);
}

UInt rights(Bool r, Bool w, Bool x)
{
    return (r ? WIRE_MAP_READ : 0) | (w ? WIRE_MAP_WRITE : 0) | (x ? WIRE_MAP_EXEC : 0);
}

static void first_mapping(Addr a, SizeT length, Bool r, Bool w, Bool x, ULong handle)
{
    map(a, length, rights(r, w, x), MAPPED_AT_START);
}

static void new_mapping(Addr a, SizeT length, Bool r, Bool w, Bool x, ULong handle)
{
    map(a, length, rights(r, w, x), MAPPED_NOW);
}

static void new_break(Addr a, SizeT length, ThreadId tid)
{
    map(a, length, WIRE_MAP_READ | WIRE_MAP_WRITE, MAPPED_NOW);
}

/* The contents stay, so only code that becomes executable matters. */
static void changed_rights(Addr a, SizeT length, Bool r, Bool w, Bool x)
{
    const NSegment *segment = VG_(am_find_nsegment)(a);

    if (x && segment && VG_(am_get_filename)(segment) && the.asks)
        map(a, length, rights(r, w, x), MAPPED_NOW);
}

static void moved(Addr from, Addr to, SizeT length)
{
    map(to, length, WIRE_MAP_READ | WIRE_MAP_WRITE, MAPPED_NOW);
    if (the.inputs)
        inputs_moved(from, to, length);
}

static void unmapped(Addr a, SizeT length)
{
    shared_unmapped(a, length);
    map(a, length, WIRE_MAP_GONE, MAPPED_NOW);
}

/* ---- marks --------------------------------------------------------------------------------- */

static Bool client_request(ThreadId tid, UWord *args, UWord *result)
{
    if (args[0] != VESTIGE_MARK_START && args[0] != VESTIGE_MARK_STOP)
        return False;
    *result = 0;
    if (the.marks)
        region_switch(args[0] == VESTIGE_MARK_START);
    return True;
}

/* ---- set-up -------------------------------------------------------------------------------- */

void say_hello(void)
{
    struct wire_hello *hello = ring_record(WIRE_HELLO, 0, sizeof(*hello));

    if (hello)
        facts_fill(hello);
    ring_done();
    if (the.follow)
        tell_command();
}

static void after_options(void)
{
    if (the.socket < 0 || the.memory < 0 || the.log < 0 || !the.state) {
        VG_(umsg)("vestige: this tool is run by 'vestige record'\n");
        VG_(exit)(2);
    }
    the.socket = VG_(safe_fd)(the.socket);
    the.memory = VG_(safe_fd)(the.memory);
    the.log = VG_(safe_fd)(the.log);
    VG_(log_output_sink).fd = the.log;
    the.threads = VG_(calloc)("vestige.threads", VG_N_THREADS, sizeof(*the.threads));
    ring_open();
    region_init();
    say_hello();
}

static void add_window(const HChar *text)
{
    HChar *rest;
    struct window w = {.start = VG_(strtoull10)(text, &rest)};

    if (*rest == ':')
        w.length = VG_(strtoull10)(rest + 1, &rest);
    the.windows =
        VG_(realloc)("vestige.windows", the.windows, (the.window_count + 1) * sizeof(*the.windows));
    the.windows[the.window_count++] = w;
}

static Bool option(const HChar *arg)
{
    const HChar *text;

    if VG_STR_CLO (arg, "--fds", text) {
        HChar *rest;

        the.fds = (HChar *)(Addr)text;
        the.socket = VG_(strtoll10)(text, &rest);
        the.memory = VG_(strtoll10)(rest + 1, &rest);
        the.log = VG_(strtoll10)(rest + 1, &rest);
    } else if VG_STR_CLO (arg, "--state", text) {
        the.state = (HChar *)(Addr)text;
    } else if VG_STR_CLO (arg, "--files", text) {
        limits_init((HChar *)(Addr)text);
    } else if VG_STR_CLO (arg, "--digests", text) {
        the.digests = VG_(strtoull10)(text, NULL);
    } else if VG_STR_CLO (arg, "--last", text) {
        the.last = VG_(strtoull10)(text, NULL);
    } else if VG_INT_CLO (arg, "--signal", the.signal) {
    } else if VG_BOOL_CLO (arg, "--wishes", the.wishes) {
    } else if VG_STR_CLO (arg, "--window", text) {
        add_window(text);
    } else if VG_BOOL_CLO (arg, "--loads", the.loads) {
    } else if VG_BOOL_CLO (arg, "--stores", the.stores) {
    } else if VG_BOOL_CLO (arg, "--ask", the.asks) {
    } else if VG_BOOL_CLO (arg, "--only-ranges", the.only_ranges) {
    } else if VG_BOOL_CLO (arg, "--marks", the.marks) {
    } else if VG_BOOL_CLO (arg, "--start-off", the.start_off) {
    } else if VG_BOOL_CLO (arg, "--inputs", the.inputs) {
    } else if VG_BOOL_CLO (arg, "--light", the.light) {
    } else if VG_BOOL_CLO (arg, "--whole", the.whole) {
    } else if VG_BOOL_CLO (arg, "--follow", the.follow) {
    } else {
        return False;
    }
    return True;
}

static void usage(void)
{
    VG_(printf)("    Run by 'vestige record'; see its --help.\n");
}

static void debug_usage(void)
{
}

static void the_end(Int status)
{
    for (ThreadId i = 1; i < VG_N_THREADS; i++)
        if (the.threads[i].known)
            settle_gap(i);
    ring_simple(WIRE_BYE, the.stream);
    ring_flush(False);
}

static void before_options(void)
{
    VG_(details_name)("Vestige");
    VG_(details_version)(NULL);
    VG_(details_description)("records what a program does");
    VG_(details_copyright_author)("Part of Vestige; this tool is under GPL-2.0-or-later.");
    VG_(details_bug_reports_to)("the Vestige project");
    VG_(details_avg_translation_sizeB)(400);
    VG_(basic_tool_funcs)(after_options, instrument, the_end);
    VG_(needs_command_line_options)(option, usage, debug_usage);
    VG_(needs_syscall_wrapper)(before_syscall, after_syscall);
    VG_(needs_client_requests)(client_request);
    VG_(needs_superblock_discards)(discarded);
    VG_(track_start_client_code)(start_client_code);
    VG_(track_stop_client_code)(stop_client_code);
    VG_(track_pre_thread_ll_create)(thread_created);
    VG_(track_pre_thread_first_insn)(thread_begins);
    VG_(track_pre_thread_ll_exit)(thread_ends);
    VG_(track_pre_mem_read)(pre_mem_read);
    VG_(track_pre_mem_write)(pre_mem_write);
    VG_(track_post_mem_write)(post_mem_write);
    VG_(track_pre_deliver_signal)(before_signal);
    VG_(track_new_mem_startup)(first_mapping);
    VG_(track_new_mem_mmap)(new_mapping);
    VG_(track_new_mem_brk)(new_break);
    VG_(track_change_mem_mprotect)(changed_rights);
    VG_(track_copy_mem_remap)(moved);
    VG_(track_die_mem_brk)(unmapped);
    VG_(track_die_mem_munmap)(unmapped);
    VG_(atfork)(forking, forked_parent, forked_child);
    /* A block is consecutive code, as the processor would run it. */
    VG_(clo_vex_control).guest_chase = False;
    VG_(clo_vex_control).iropt_unroll_thresh = 0;
    /* A handler may repair a fault and look at any register to do so, and a block may be cut
     * anywhere. */
    VG_(clo_vex_control).iropt_register_updates_default = VexRegUpdAllregsAtEachInsn;
    VG_(clo_px_file_backed) = VexRegUpdAllregsAtEachInsn;
}

VG_DETERMINE_INTERFACE_VERSION(before_options)
