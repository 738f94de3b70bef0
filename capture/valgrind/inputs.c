/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is needed to execute the run again: how far each thread came before something happened from
 * outside, what instructions got from outside, and what memory holds that is new. What a system
 * call wrote, and registers that were set from outside, are recorded in any case. */
#include "pub_tool_aspacehl.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_vki.h"
#include "tool.h"
#include "vestige/event.h"

/* The most bytes that one WIRE_CONTENT holds. */
#define PIECE 32768u
/* Mapped files of at most this size are recorded as bytes if the program may write to them. */
#define SMALL_FILE (1u << 20)

/* Offered by Valgrind's core, whose headers Debian does not install. */
extern SysRes VG_(pread)(Int fd, void *buffer, Int count, OffT offset);

/* ---- how far a thread came ------------------------------------------------------------------- */

static ULong digest_of(ThreadId tid)
{
    struct wire_regs regs;
    ULong digest;

    thread_registers(tid, &regs);
    digest = vs_turn_digest(0, regs.gpr, 16);
    digest = vs_turn_digest(digest, &regs.rip, 2); /* and rflags */
    digest = vs_turn_digest(digest, (const uint64_t *)(Addr)regs.ymm, sizeof(regs.ymm) / 8);
    return vs_turn_digest_end(digest);
}

static void tell(ThreadId tid, const struct lane *lane, const struct wire_ran *place)
{
    struct wire_ran *ran = ring_record(WIRE_RAN, tid, sizeof(*ran));

    if (ran) {
        *ran = *place;
        ran->insns = lane->counted;
        ran->at = lane->at;
        ran->left = lane->left;
        ran->iterations = lane->iterations;
    }
    ring_done();
}

void inputs_ran(ThreadId tid)
{
    struct wire_ran place = {.from = shown_address(the.from),
                             .rip = shown_address(VG_(get_IP)(tid))};
    struct lane lane;

    lane_get(tid, &lane);
    if (!lane.counted && !lane.left && !lane.iterations)
        return;
    /* Code that was translated while recording was on may still be there. What ran until it ended
     * counts. */
    if (the.over) {
        lane.counted = lane.left = lane.at = lane.iterations = 0;
        lane_set(tid, &lane);
        return;
    }
    /* In the midst of an instruction, some registers may be set already. */
    if (lane.left != WIRE_TO_FAULT)
        place.digest = digest_of(tid);
    tell(tid, &lane, &place);
    the.threads[tid].told += lane.counted;
    the.told += lane.counted;
    if (lane.left == WIRE_TO_SYSCALL)
        the.threads[tid].call_at = lane.at;
    lane.counted = lane.left = lane.at = lane.iterations = 0;
    lane_set(tid, &lane);
}

void inputs_fault(Addr pc)
{
    ThreadId tid = the.running;
    struct lane lane;
    UInt number;

    lane_get(tid, &lane);
    if (!lane.limit && !the.stop_asked)
        return; /* in a gap */
    number = the.light ? lane.block : ((const struct wire_slot *)lane.cursor)->what;
    if (!number)
        return;
    lane.counted += (Long)block_insns_before(number, pc) - (Long)block_counted_before(number, pc);
    lane.left = WIRE_TO_FAULT;
    lane.at = shown_address(pc);
    lane_set(tid, &lane);
}

/* ---- blocks that need more registers --------------------------------------------------------- */

extern VexTranslateResult __real_LibVEX_Translate(VexTranslateArgs *args);
VexTranslateResult __wrap_LibVEX_Translate(VexTranslateArgs *args);

static UInt (*needs_self_check)(void *, VexRegisterUpdates *, const VexGuestExtents *);

/* Nobody looks at a thread's registers but where a block ends and, if the program handles faults,
 * where an access may fail; where it is in its code and its stack has to be known there always. */
static UInt few_registers(void *closure, VexRegisterUpdates *updates,
                          const VexGuestExtents *extents)
{
    UInt checks = needs_self_check(closure, updates, extents);

    *updates = the.exact            ? VexRegUpdAllregsAtEachInsn
               : the.handles_faults ? VexRegUpdAllregsAtMemAccess
                                    : VexRegUpdUnwindregsAtMemAccess;
    return checks;
}

/* Valgrind's core calls this to translate a block. A handler looks at registers where a division
 * fails, too, but VEX sets them only before accesses, unless it is told to with each instruction:
 * such blocks are translated a second time. */
VexTranslateResult __wrap_LibVEX_Translate(VexTranslateArgs *args)
{
    VexTranslateResult result;

    if (!the.light)
        return __real_LibVEX_Translate(args);
    needs_self_check = args->needs_self_check;
    args->needs_self_check = few_registers;
    the.not_exact = False;
    result = __real_LibVEX_Translate(args);
    if (the.not_exact) {
        the.exact = True;
        result = __real_LibVEX_Translate(args);
        the.exact = False;
    }
    args->needs_self_check = needs_self_check;
    return result;
}

void inputs_handler(UInt number, Addr action)
{
    ULong handler;

    if (the.handles_faults ||
        (number != VKI_SIGSEGV && number != VKI_SIGBUS && number != VKI_SIGFPE &&
         number != VKI_SIGILL && number != VKI_SIGTRAP) ||
        copy_safely(&handler, action, sizeof(handler)) != sizeof(handler) ||
        handler <= (ULong)(Addr)VKI_SIG_IGN)
        return;
    the.handles_faults = True;
    region_forget();
}

/* An instruction whose result is found where it sets its registers (plan.c), which VEX leaves out
 * if they are set again before anybody could look. */
static Bool is_told_by_registers(const IRStmt *st)
{
    struct x86 x;

    if (st->tag != Ist_IMark)
        return False;
    x86_decode((const UChar *)st->Ist.IMark.addr, st->Ist.IMark.addr, &x);
    return x86_is_xgetbv(&x) ||
           x86_gets_original((const UChar *)st->Ist.IMark.addr, st->Ist.IMark.len);
}

/* A block that is to be cut before an instruction. */
static Bool is_parted(const IRStmt *st, UInt *insns)
{
    return st->tag == Ist_IMark && (*insns)++ && region_parts(st->Ist.IMark.addr);
}

Bool inputs_need_exact(const IRSB *in)
{
    UInt insns = 0;

    if (the.exact)
        return False;
    for (Int i = 0; i < in->stmts_used && !the.not_exact; i++)
        the.not_exact = (the.handles_faults && is_division(in->stmts[i])) ||
                        is_told_by_registers(in->stmts[i]) || is_parted(in->stmts[i], &insns);
    return the.not_exact;
}

/* ---- values from outside --------------------------------------------------------------------- */

static void value(GuestState *gst, ULong how, ULong pc, const void *bytes)
{
    const struct wire_ran place = {0};
    struct lane *lane = lane_of(gst);
    ThreadId tid = the.running;
    UInt size = how & 0xffff;
    struct wire_value *v;

    if (the.over)
        return;
    /* The thread runs on after this, so that its lane stays as it is. */
    the.running = 0;
    the.cursor = lane->cursor;
    if (lane->counted)
        tell(tid, lane, &place);
    the.threads[tid].told += lane->counted;
    the.told += lane->counted;
    lane->counted = 0;
    v = ring_record(WIRE_VALUE, tid, sizeof(*v) + size);
    if (v) {
        *v = (struct wire_value){.pc = pc, .more = how >> 16, .size = size};
        VG_(memcpy)(v + 1, bytes, size);
    }
    ring_done();
    lane->cursor = the.cursor;
    the.running = tid;
}

void inputs_value(GuestState *gst, ULong how, ULong pc, ULong got)
{
    value(gst, how, pc, &got);
}

void inputs_registers(GuestState *gst, ULong how, ULong pc, const Int *places)
{
    ULong got[4];

    for (UInt i = 0; i < (how & 0xffff) / 8; i++)
        VG_(memcpy)(&got[i], (const UChar *)gst + places[i], 8);
    value(gst, how, pc, got);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void content(UInt kind, Addr a, SizeT length, ULong from, const void *bytes, UInt size)
{
    struct wire_content *c = ring_record(WIRE_CONTENT, 0, sizeof(*c) + size);

    if (c) {
        *c = (struct wire_content){a, length, from, kind, kind == WIRE_CONTENT_FILE ? size : 0};
        VG_(memcpy)(c + 1, bytes, size);
    }
    ring_done();
}

static Bool is_zero(const UChar *bytes, SizeT size)
{
    for (SizeT i = 0; i < size; i++)
        if (bytes[i])
            return False;
    return True;
}

static UChar piece[PIECE];

/* Memory is zero where nothing else is said. */
static void content_bytes(Addr a, SizeT length)
{

    for (SizeT at = 0; at < length; at += PIECE) {
        SizeT size = length - at < PIECE ? length - at : PIECE, from = 0;
        SizeT got = copy_safely(piece, a + at, size);

        while (from < got) {
            SizeT n = got - from < VKI_PAGE_SIZE ? got - from : VKI_PAGE_SIZE;

            if (!is_zero(piece + from, n))
                content(WIRE_CONTENT_BYTES, a + at + from, n, 0, piece + from, n);
            from += n;
        }
    }
}

/* The same for memory that may not be accessed now, but may have been: reads what there is of it in
 * another way. There can be a lot of such memory that never was touched. */
static void content_hidden(Addr a, SizeT length)
{
    SysRes memory = VG_(open)("/proc/self/mem", VKI_O_RDONLY, 0), r;
    static UChar there[PAGES_MOST];
    Int pages = pages_open();
    Bool ok = pages >= 0 && !sr_isError(memory);

    for (SizeT at = 0; ok && at < length; at += PAGES_MOST * VKI_PAGE_SIZE) {
        UInt got = pages_read(pages, a + at, (length - at) / VKI_PAGE_SIZE, there);

        for (UInt i = 0; i < got; i++) {
            Addr page = a + at + i * VKI_PAGE_SIZE;

            if (!there[i])
                continue;
            r = VG_(pread)(sr_Res(memory), piece, VKI_PAGE_SIZE, page);
            if (!sr_isError(r) && sr_Res(r) == VKI_PAGE_SIZE && !is_zero(piece, VKI_PAGE_SIZE))
                content(WIRE_CONTENT_BYTES, page, VKI_PAGE_SIZE, 0, piece, VKI_PAGE_SIZE);
        }
    }
    if (pages >= 0)
        VG_(close)(pages);
    if (!sr_isError(memory))
        VG_(close)(sr_Res(memory));
}

/* Whether memory holds what the file has. Behind the file's end, there are zeros. */
static Bool is_as_in_file(Int fd, Addr a, SizeT length, ULong offset)
{
    static UChar there[PIECE];

    for (SizeT at = 0; at < length; at += PIECE) {
        SizeT size = length - at < PIECE ? length - at : PIECE, have = 0;
        SizeT got = copy_safely(piece, a + at, size);

        while (have < got) {
            SysRes r = VG_(pread)(fd, there + have, got - have, offset + at + have);

            if (sr_isError(r))
                return False;
            if (!sr_Res(r))
                break;
            have += sr_Res(r);
        }
        VG_(memset)(there + have, 0, got - have);
        if (VG_(memcmp)(piece, there, got) != 0)
            return False;
    }
    return True;
}

/* Whether the file has what memory holds, although the program may have changed either. */
static Bool is_unchanged(const NSegment *s, const HChar *path, Addr a, SizeT length)
{
    SysRes file = VG_(open)(path, VKI_O_RDONLY, 0);
    Bool same =
        !sr_isError(file) && is_as_in_file(sr_Res(file), a, length, s->offset + (a - s->start));

    if (!sr_isError(file))
        VG_(close)(sr_Res(file));
    return same;
}

/* Whether the file changes only if the system does. Others are built anew, or deleted; what
 * Valgrind and this tool bring along is replaced when they are. */
static Bool is_of_system(const HChar *path)
{
    static const HChar *const folders[] = {"/usr/", "/lib/", "/lib64/", "/bin/", "/sbin/"};
    static const HChar local[] = "/usr/local/";
    Bool found = False;

    for (UInt i = 0; i < sizeof(folders) / sizeof(folders[0]) && !found; i++)
        found = VG_(strncmp)(path, folders[i], VG_(strlen)(folders[i])) == 0;
    return found && VG_(strncmp)(path, local, sizeof(local) - 1) != 0 &&
           !VG_(strstr)(path, "/valgrind/");
}

/* Whether what the file has can be found there later. */
static Bool is_kept(const NSegment *s, Addr a, SizeT length, enum mapped when)
{
    const HChar *path = VG_(am_get_filename)(s);
    struct vg_stat st;

    if (the.whole || s->kind != SkFileC || !path || !is_of_system(path) ||
        sr_isError(VG_(stat)(path, &st)) || st.dev != s->dev || st.ino != s->ino)
        return False;
    /* What may not be written now may have been written before: the loader does so. */
    if (when == MAPPED_BEFORE)
        return !s->hasW && is_unchanged(s, path, a, length);
    /* The loader may have changed what the program can write. */
    return !s->hasW || (when == MAPPED_NOW && length > SMALL_FILE);
}

static void part_mapped(const NSegment *s, Addr a, SizeT length, enum mapped when)
{
    const HChar *path = VG_(am_get_filename)(s);

    if (s->kind == SkAnonC && when == MAPPED_NOW)
        return;
    if (s->kind == SkAnonC && !s->hasR)
        content_hidden(a, length);
    else if (is_kept(s, a, length, when))
        content(WIRE_CONTENT_FILE, a, length, s->offset + (a - s->start), path, VG_(strlen)(path));
    else
        content_bytes(a, length);
}

Bool inputs_follow(void)
{
    return the.inputs && the.mode == MODE_ON && !the.anew;
}

void inputs_told(Addr a, SizeT length, enum mapped when)
{
    while (length) {
        const NSegment *s = VG_(am_find_nsegment)(a);
        SizeT n = s && s->end - a < length - 1 ? s->end - a + 1 : length;

        if (s && s->kind & (SkAnonC | SkFileC | SkShmC))
            part_mapped(s, a, n, when);
        a += n;
        length -= n;
    }
}

void inputs_mapped(Addr a, SizeT length, enum mapped when)
{
    if (inputs_follow())
        inputs_told(a, length, when);
}

void inputs_moved(Addr from, Addr to, SizeT length)
{
    if (inputs_follow())
        content(WIRE_CONTENT_MOVED, to, length, from, NULL, 0);
}

void inputs_content(Addr a, SizeT length)
{
    while (length && inputs_follow()) {
        SizeT n = length < PIECE ? length : PIECE, got = copy_safely(piece, a, n);

        if (got)
            content(WIRE_CONTENT_BYTES, a, got, 0, piece, got);
        a += n;
        length -= n;
    }
}

void inputs_anew(ThreadId tid)
{
    struct wire_anew *anew = ring_record(WIRE_ANEW, tid, sizeof(*anew));
    Int count = 0;
    Addr *starts;

    if (anew)
        *anew = (struct wire_anew){the.window};
    ring_done();
    the.anew = False;
    starts = VG_(get_segment_starts)(SkFileC | SkAnonC | SkShmC, &count);
    for (Int i = 0; i < count; i++) {
        const NSegment *s = VG_(am_find_nsegment)(starts[i]);

        if (s)
            inputs_told(s->start, s->end - s->start + 1, MAPPED_BEFORE);
    }
    VG_(free)(starts);
}
