/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"
#include "tool.h"

/* Offered by Valgrind's core, whose headers Debian does not install. */
extern SysRes VG_(am_shared_mmap_file_float_valgrind)(SizeT length, UInt prot, Int fd,
                                                      Off64T offset);
extern SysRes VG_(am_mmap_anon_float_valgrind)(SizeT length);
extern SysRes VG_(am_munmap_valgrind)(Addr start, SizeT length);
extern Int VG_(safe_fd)(Int fd);
extern SysRes VG_(do_syscall)(UWord number, RegWord, RegWord, RegWord, RegWord, RegWord, RegWord,
                              RegWord, RegWord);

extern Bool VG_(clo_trace_children);

/* Where Valgrind's messages go. Only the first member matters here. */
extern struct {
    Int fd;
} VG_(log_output_sink);

/* linux/socket.h */
#define MESSAGE_NOSIGNAL 0x4000
#define MESSAGE_CLOEXEC  0x40000000
#define SOCKET_LEVEL     1

static struct wire_slot *slot_at(ULong address)
{
    return (struct wire_slot *)(Addr)address;
}

/* One past the last byte of the buffer in use. */
static ULong buffer_end(void)
{
    return the.base + WIRE_BUFFER_SIZE;
}

static void enter_buffer(UInt number)
{
    the.buffer = number;
    the.base = (Addr)the.ring + WIRE_HEAD_SIZE + (ULong)number * WIRE_BUFFER_SIZE;
    the.limit = buffer_end() - WIRE_RECORD_MAX - 2 * sizeof(struct wire_slot);
    the.cursor = the.base;
    *slot_at(the.cursor) = (struct wire_slot){0, 0};
}

/* Nobody reads any more, so the program runs on unobserved, and natively from its next exec on. */
static void nobody_listens(void)
{
    the.silent = True;
    the.stop_asked = True;
    VG_(clo_trace_children) = False;
}

static Bool read_all(void *to, SizeT size)
{
    UChar *p = to;

    while (size) {
        Int got = VG_(read)(the.socket, p, size);

        if (got == -VKI_EINTR)
            continue;
        if (got <= 0)
            return False;
        p += got;
        size -= got;
    }
    return True;
}

/* Keeps the descriptors that came along with a reply, where the program does not meet them. */
static void keep_descriptors(struct vki_msghdr *message)
{
    const struct vki_cmsghdr *c = VKI_CMSG_FIRSTHDR(message);
    const Int *fds;

    if (!c || c->cmsg_level != SOCKET_LEVEL || c->cmsg_type != VKI_SCM_RIGHTS)
        return;
    fds = VKI_CMSG_DATA(c);
    if (c->cmsg_len != VKI_CMSG_ALIGN(sizeof(*c)) + sizeof(the.child)) {
        /* We may have as many files open as we are allowed to. */
        for (UInt i = 0; i < (c->cmsg_len - VKI_CMSG_ALIGN(sizeof(*c))) / sizeof(*fds); i++)
            VG_(close)(fds[i]);
        return;
    }
    for (UInt i = 0; i < WIRE_DESCRIPTORS; i++)
        the.child[i] = VG_(safe_fd)(fds[i]);
}

/* Receives the head of a reply, and what comes along with it. */
static Bool receive(struct wire_reply *reply)
{
    ULong control[8];
    struct vki_iovec part = {reply, sizeof(*reply)};
    struct vki_msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    SysRes r;

    do {
        message.msg_control = control;
        message.msg_controllen = sizeof(control);
        r = VG_(do_syscall)(__NR_recvmsg, the.socket, (Addr)&message, MESSAGE_CLOEXEC, 0, 0, 0, 0,
                            0);
    } while (sr_isError(r) && sr_Err(r) == VKI_EINTR);
    if (sr_isError(r) || sr_Res(r) == 0)
        return False;
    keep_descriptors(&message);
    return read_all((UChar *)reply + sr_Res(r), sizeof(*reply) - sr_Res(r));
}

/* Receives one reply. Returns its kind, or 0 if nobody is there. */
static UInt take_reply(void)
{
    struct wire_reply reply;
    struct wire_range range;

    if (!receive(&reply))
        return 0;
    if (reply.kind == WIRE_FREE)
        the.free++;
    if (reply.kind == WIRE_STOP)
        the.stop_asked = True;
    if (reply.kind == WIRE_RANGES)
        for (UInt i = 0; i < reply.value; i++) {
            if (!read_all(&range, sizeof(range)))
                return 0;
            region_add(&range);
        }
    return reply.kind;
}

/* This does not use VG_(write): if the recorder is gone, SIGPIPE would end the program. */
static Bool send_note(const struct wire_note *note)
{
    SysRes r;

    do
        r = VG_(do_syscall)(__NR_sendto, the.socket, (Addr)note, sizeof(*note), MESSAGE_NOSIGNAL, 0,
                            0, 0, 0);
    while (sr_isError(r) && sr_Err(r) == VKI_EINTR);
    return !sr_isError(r) && sr_Res(r) == sizeof(*note);
}

static Bool reply_waits(void)
{
    struct vki_pollfd fd = {.fd = the.socket, .events = VKI_POLLIN};
    SysRes r = VG_(poll)(&fd, 1, 0);

    return !sr_isError(r) && sr_Res(r) > 0;
}

void ring_open(void)
{
    SysRes r = VG_(am_shared_mmap_file_float_valgrind)(
        WIRE_RING_SIZE, VKI_PROT_READ | VKI_PROT_WRITE, the.memory, 0);

    if (sr_isError(r)) {
        VG_(umsg)("vestige: cannot map the recorder's memory\n");
        VG_(exit)(2);
    }
    the.ring = (struct wire_ring *)(Addr)sr_Res(r);
    the.ring->version = WIRE_VERSION;
    the.free = WIRE_BUFFERS;
    enter_buffer(0);
    ring_publish();
}

void ring_abandon(void)
{
    SysRes r = VG_(am_mmap_anon_float_valgrind)(WIRE_RING_SIZE);

    the.silent = True;
    VG_(close)(the.socket);
    VG_(close)(the.memory);
    if (sr_isError(r))
        VG_(exit)(1);
    the.ring = (struct wire_ring *)(Addr)sr_Res(r);
    enter_buffer(0);
}

void ring_drop_child(void)
{
    for (UInt i = 0; i < WIRE_DESCRIPTORS && the.child[i] >= 0; i++) {
        VG_(close)(the.child[i]);
        the.child[i] = -1;
    }
}

/* Sends a note, and waits for a reply of that kind. */
static void ask_for(const struct wire_note *note, UInt kind)
{
    UInt reply = 0;

    if (the.silent)
        return;
    if (send_note(note))
        do
            reply = take_reply();
        while (reply && reply != kind);
    if (!reply)
        nobody_listens();
}

void ring_ask_child(void)
{
    const struct wire_note note = {WIRE_CHILD, 0, 0, 0};

    ask_for(&note, WIRE_CHANNEL);
}

void ring_adopt(void)
{
    VG_(am_munmap_valgrind)((Addr)the.ring, WIRE_RING_SIZE);
    VG_(close)(the.socket);
    VG_(close)(the.memory);
    VG_(close)(the.log);
    the.socket = the.child[0];
    the.memory = the.child[1];
    the.log = the.child[2];
    VG_(log_output_sink).fd = the.log;
    for (UInt i = 0; i < WIRE_DESCRIPTORS; i++)
        the.child[i] = -1;
    ring_open();
}

void ring_introduce(void)
{
    const struct wire_note note = {WIRE_BORN, VG_(getpid)(), VG_(getppid)(), 0};

    ask_for(&note, WIRE_FREE);
    the.free = WIRE_BUFFERS;
}

void ring_flush(Bool ask)
{
    struct wire_note note = {ask ? WIRE_ASK : WIRE_FULL, the.buffer,
                             the.cursor + sizeof(struct wire_slot) - the.base, the.telling};
    UInt reply;

    if (the.silent) {
        enter_buffer(the.buffer);
        return;
    }
    if (!send_note(&note)) {
        nobody_listens();
        enter_buffer(the.buffer);
        return;
    }
    the.free--;
    while (the.free == 0 || ask || reply_waits()) {
        reply = take_reply();
        if (!reply) {
            nobody_listens();
            break;
        }
        if (reply == WIRE_RANGES)
            ask = False;
    }
    enter_buffer((the.buffer + 1) % WIRE_BUFFERS);
    ring_publish();
}

void ring_renew(Bool telling)
{
    const struct wire_note note = {WIRE_RENEW, 0, telling, 0};

    ring_flush(False);
    the.telling = telling;
    the.ring->telling = telling;
    if (!the.silent && !send_note(&note))
        nobody_listens();
}

void ring_wait(void)
{
    if (!the.silent && !take_reply())
        nobody_listens();
}

void *ring_record(UInt kind, ThreadId tid, UInt size)
{
    struct wire_head *head;
    UInt padded = (size + 7) & ~7u;

    lane_collect();
    if (the.silent)
        return NULL;
    tl_assert(padded + sizeof(*head) + 2 * sizeof(struct wire_slot) <= WIRE_RECORD_MAX);
    if (the.cursor > the.limit)
        ring_flush(False);
    if (the.silent)
        return NULL;
    slot_at(the.cursor)->what = kind;
    head = (struct wire_head *)(Addr)(the.cursor + sizeof(struct wire_slot));
    head->size = sizeof(*head) + padded;
    head->thread = tid;
    the.cursor += sizeof(struct wire_slot) + head->size;
    *slot_at(the.cursor) = (struct wire_slot){0, 0};
    return head + 1;
}

void ring_done(void)
{
    ring_publish();
}

void ring_simple(UInt kind, ThreadId tid)
{
    ring_record(kind, tid, 0);
    ring_done();
}

void ring_fault(Addr pc)
{
    ThreadId tid;
    UInt number;

    if (the.inputs && the.running)
        inputs_fault(pc);
    tid = lane_stop();
    number = slot_at(the.cursor)->what;
    if (number && !the.silent) {
        the.cursor += block_length(number);
        *slot_at(the.cursor) =
            (struct wire_slot){WIRE_LEFT_FAULT | block_insns_before(number, pc), 0};
    }
    /* The thread did not come to where it could be said. */
    if (the.inputs && tid && !the.threads[tid].off)
        inputs_ran(tid);
}

void ring_publish(void)
{
    ULong bytes = the.cursor + sizeof(struct wire_slot) - the.base;

    __atomic_store_n(&the.ring->valid, (ULong)the.buffer << 32 | bytes, __ATOMIC_RELAXED);
}
