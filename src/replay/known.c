/* SPDX-License-Identifier: MIT */
#include "replay/known.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/array.h"
#include "replay/signal_frames.h"
#include "replay/threads.h"

enum {
    PAGE = 4096,
    AHEAD_MOST = 1 << 22, /* how many instructions to look ahead */
    ROBUST_MOST = 2048,   /* how many entries of a list of robust mutexes to follow */
};

/* ---- marks ----------------------------------------------------------------------------------- */

static bool is_marked(struct vs_copy *c, uint64_t addr)
{
    uint8_t byte;
    return !vs_copy_read(c, addr, &byte, 1);
}

static int mark(struct vs_copy *c, uint64_t addr, uint64_t size)
{
    while (size) {
        uint64_t offset = addr % VS_COPY_PAGE, rest = VS_COPY_PAGE - offset;
        size_t n = size < rest ? (size_t)size : (size_t)rest;
        bool made;
        struct vs_copy_page *page = vs_copy_make(c, addr >> VS_COPY_BITS, &made);
        if (!page)
            return -VSE_NOMEM;
        vs_copy_know(page, offset, n);
        addr += n;
        size -= n;
    }
    return 0;
}

/* Makes a range what it has in common with another; neither wraps around. Returns whether that is
 * anything. */
static bool meet(uint64_t *addr, uint64_t *size, uint64_t other, uint64_t other_size)
{
    uint64_t from = *addr > other ? *addr : other;
    uint64_t last = *addr + (*size - 1), other_last = other + (other_size - 1);
    uint64_t to = last < other_last ? last : other_last;
    if (from > to)
        return false;
    *addr = from;
    *size = to - from + 1;
    return true;
}

static int mark_loaded(struct vs_replay *r, struct vs_copy *c, uint64_t addr, uint64_t size)
{
    const struct vs_loaded *l = r->config.loaded; /* also what is not there yet, to be safe */
    int err = 0;
    for (size_t i = 0; l && i < l->count && !err; i++) {
        uint64_t from = addr, n = size;
        if (meet(&from, &n, l->parts[i].addr, l->parts[i].size))
            err = mark(c, from, n);
    }
    return err;
}

/* Marks the bytes of the range that lie in pages of the view. */
static int mark_view(struct vs_copy *c, const struct vs_copy *view, uint64_t addr, uint64_t size)
{
    int err = 0;
    const struct vs_copy_page *page;
    for (struct vs_copy_walk w = {0}; !err && (page = vs_copy_next(view, &w));) {
        uint64_t from = addr, n = size;
        if (meet(&from, &n, page->number << VS_COPY_BITS, VS_COPY_PAGE))
            err = mark(c, from, n);
    }
    return err;
}

int vs_replay_note(struct vs_replay *r, unsigned core, uint64_t addr, uint64_t size)
{
    return core == r->noter ? 0 : mark_loaded(r, r->noted, addr, size);
}

/* ---- forgetting ------------------------------------------------------------------------------ */

/* Something other than the program's instructions may have written these bytes, for the core. */
static int forget(struct vs_replay *r, unsigned core, uint64_t addr, uint64_t size)
{
    uint64_t to_end = UINT64_MAX - addr;
    size = size - 1 > to_end ? to_end + 1 : size;
    int err = vs_copy_forget(vs_replay_view(r, core), addr, size);
    if (!err)
        err = vs_copy_forget(&r->code.stored, addr, size);
    if (!err)
        err = mark_loaded(r, &r->outside.gone, addr, size);
    for (unsigned i = 0; i < r->view_count && r->view_count > 1 && !err; i++)
        if (i != core)
            err = mark_view(&r->outside.gone, &r->views[i], addr, size);
    return !err && r->noted ? vs_replay_note(r, core, addr, size) : err;
}

int vs_replay_forget_all(struct vs_replay *r, unsigned core)
{
    vs_copy_fini(vs_replay_view(r, core));
    vs_copy_fini(&r->code.stored);
    vs_copy_fini(&r->code.image);
    r->code.changed = false;
    r->outside.all = r->outside.cautious = true;
    return 0;
}

/* A memory that only notes what is stored. */
struct noting {
    struct vs_cpu_memory memory; /* first */
    struct vs_replay *r;
    unsigned core, left; /* how many more stores it takes */
};

static int note_fetch(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr, void *bytes,
                      size_t size)
{
    struct vs_replay *r = ((struct noting *)memory)->r;
    return r->memory.ops->fetch(&r->memory, cpu, addr, bytes, size);
}

static int note_read(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr, unsigned size,
                     enum vs_access access, void *bytes)
{
    (void)memory, (void)size, (void)access, (void)bytes;
    cpu->fault = addr;
    return VS_CPU_FAULT;
}

static int note_write(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr,
                      unsigned size, enum vs_access access, const void *bytes)
{
    struct noting *n = (struct noting *)memory;
    (void)access, (void)bytes;
    cpu->fault = addr;
    return n->left-- ? forget(n->r, n->core, addr, size) : VS_CPU_FAULT;
}

static int note_conditional(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr,
                            unsigned size, const void *bytes, int *stored)
{
    (void)memory, (void)addr, (void)size, (void)bytes, (void)stored;
    cpu->fault = addr;
    return VS_CPU_FAULT;
}

static int note_outside(struct vs_cpu_memory *memory, struct vs_cpu *cpu, unsigned what,
                        unsigned size, void *bytes)
{
    (void)memory, (void)cpu, (void)what, (void)size, (void)bytes;
    return VS_CPU_FAULT;
}

static const struct vs_cpu_memory_ops note_ops = {.fetch = note_fetch,
                                                  .read = note_read,
                                                  .write = note_write,
                                                  .conditional = note_conditional,
                                                  .outside = note_outside};

int vs_replay_forget_iterations(struct vs_replay *r, unsigned core)
{
    const struct vs_cpu_ops *ops = r->config.cpu;
    struct noting n = {.memory = {.ops = &note_ops}, .r = r, .core = core, .left = 1 << 20};
    struct vs_cpu_code *code = ops->code_new();
    struct vs_cpu *cpu = vs_cpu_new(ops, 1, code, &n.memory);
    int stop = code && cpu ? 0 : -VSE_NOMEM;
    r->outside.cautious = true;
    if (!stop) {
        vs_cpu_copy(cpu, r->cores[core].cpu);
        cpu->id = core;
        stop = vs_cpu_run(cpu, 0);
    }
    vs_cpu_code_free(code);
    free(cpu);
    return stop < 0 ? stop : n.left ? 0 : vs_replay_forget_all(r, core);
}

/* ---- system calls ---------------------------------------------------------------------------- */

struct caller {
    struct vs_replay *r;
    unsigned core;
};

static size_t read_before(void *context, uint64_t addr, uint8_t *bytes, size_t size)
{
    const struct caller *c = context;
    return vs_replay_read(c->r, c->core, addr, bytes, size);
}

static int kernel_wrote(void *context, uint64_t addr, uint64_t size, bool exact)
{
    const struct caller *c = context;
    if (size == VS_CALL_EVERYTHING)
        return vs_replay_forget_all(c->r, c->core);
    /* Only of a simulated kernel is it known to the byte. */
    c->r->outside.cautious |= !exact || !c->r->config.isa->abi->signals;
    return forget(c->r, c->core, addr, size);
}

static const struct vs_call_thread *find_thread(const struct vs_replay *r, uint64_t stack)
{
    for (unsigned i = 0; i < r->outside.thread_count; i++)
        if (r->outside.threads[i].stack == stack)
            return &r->outside.threads[i];
    return NULL;
}

/* The thread's id is cleared. Unless the thread itself said which word that is, its creator's call
 * does, if it was replayed already. */
static int clear_id(struct vs_replay *r, unsigned core)
{
    const struct vs_replay_core *c = &r->cores[core];
    const struct vs_call_thread *t = c->clears ? NULL : find_thread(r, c->first_sp);
    uint64_t addr = t ? t->clears : c->clears;
    return addr ? forget(r, core, addr, 4) : 0;
}

/* Mutexes that an exiting thread holds are marked as such. If the list is unknown to the thread, it
 * took none. */
static int release_robust(struct vs_replay *r, unsigned core)
{
    uint64_t at = r->cores[core].robust, head[3], next;
    int err = 0;
    if (!at || vs_replay_read(r, core, at, (uint8_t *)head, sizeof(head)) < sizeof(head))
        return 0;
    uint64_t entry = head[0] & ~UINT64_C(1), pending = head[2] & ~UINT64_C(1);
    for (int i = 0; i < ROBUST_MOST && entry != at && !err; i++) {
        size_t known = vs_replay_read(r, core, entry, (uint8_t *)&next, 8);
        if (entry != pending)
            err = forget(r, core, entry + head[1], 4);
        if (known < 8)
            break;
        entry = next & ~UINT64_C(1);
    }
    r->outside.cautious |= head[0] != at || pending;
    return !err && pending ? forget(r, core, pending + head[1], 4) : err;
}

static int exit_thread(struct vs_replay *r, unsigned core)
{
    r->cores[core].exited = true;
    int err = release_robust(r, core);
    return err ? err : clear_id(r, core);
}

/* A real kernel does the same for threads that others or a signal end; the simulated one does not.
 */
int vs_replay_after_end(struct vs_replay *r, unsigned core)
{
    if (r->cores[core].exited || r->config.isa->abi->signals)
        return 0;
    int err = release_robust(r, core);
    return err ? err : clear_id(r, core);
}

/* The core made a thread, which may have exited already. */
static int note_thread(struct vs_replay *r, const struct vs_call_thread *t)
{
    struct vs_replay_outside *o = &r->outside;
    unsigned i = 0;
    int err = 0;
    while (i < o->thread_count && o->threads[i].stack != t->stack)
        i++;
    if (i == r->count)
        return 0;
    bool new = i == o->thread_count;
    o->thread_count += new;
    o->threads[i] = *t;
    for (unsigned k = 0; k < r->count && new && !err; k++)
        if (r->cores[k].exited && !r->cores[k].clears && r->cores[k].first_sp == t->stack)
            err = clear_id(r, k);
    return err;
}

/* ---- memory that comes and goes -------------------------------------------------------------- */

static int add_map(struct vs_replay *r, uint64_t addr, uint64_t size, bool there, uint64_t rights)
{
    int err = vs_array_room((void **)&r->maps, &r->map_capacity, r->map_count, 1, sizeof(*r->maps));
    if (err)
        return err;
    r->maps[r->map_count++] = (struct vs_replay_map){addr, size, (unsigned)(rights & 7), there};
    if (r->map_known < r->map_count)
        r->map_known = r->map_count;
    return 0;
}

/* ---- programs and their files ---------------------------------------------------------------- */

/* Returns the part of a file that lies at an address for the core, or NULL. *part is that of an
 * address before, or NULL: the next byte mostly lies in the same one. */
static const struct vs_loaded_part *find_part(struct vs_replay *r, unsigned core, uint64_t addr,
                                              bool executes, const struct vs_loaded_part **part)
{
    const struct vs_loaded *l = r->config.loaded;
    if (!*part || addr - (*part)->addr >= (*part)->size)
        *part = l ? vs_present_find(&r->outside.present, l, r->cores[core].program, addr, executes)
                  : NULL;
    return *part;
}

/* The bytes of an image are as in its file from now on. */
static int renew_image(struct vs_replay *r, unsigned image)
{
    const struct vs_loaded *l = r->config.loaded;
    int err = 0;
    for (size_t i = 0; i < l->count && !err; i++)
        if (l->parts[i].image == image)
            err = vs_copy_forget(&r->outside.gone, l->parts[i].addr, l->parts[i].size);
    return err;
}

/* Memory of a file or of zeros came. If that is what the core's images have there, it is known. */
static int renew_parts(struct vs_replay *r, unsigned core, uint64_t addr, uint64_t size, bool file)
{
    const struct vs_loaded *l = r->config.loaded;
    int err = 0;
    for (size_t i = 0; l && i < l->count && !err; i++) {
        const struct vs_loaded_part *part = &l->parts[i];
        uint64_t from = part->addr, n = file ? part->stored : part->size - part->stored;
        if (!file)
            from += part->stored;
        if (part->image < l->image_count && n && meet(&from, &n, addr, size) &&
            vs_present_came_already(&r->outside.present, r->cores[core].program, part->image))
            err = vs_copy_forget(&r->outside.gone, from, n);
    }
    return err;
}

/* A call opened a file: notes its name, as far as that is known. */
static void note_opened(struct vs_replay *r, unsigned core, const struct vs_call_made *c)
{
    struct vs_replay_outside *o = &r->outside;
    struct vs_replay_opened *opened = &o->opened[o->opened_at++ % VS_REPLAY_OPENED];
    uint64_t addr = c->args[c->what == VS_SYS_open ? 0 : 1];
    size_t used = 0;
    *opened = (struct vs_replay_opened){.fd = c->result};
    for (uint8_t byte; vs_replay_read(r, core, addr, &byte, 1) && byte; addr++) {
        used = byte == '/' ? 0 : used;
        if (byte != '/' && used + 1 < sizeof(opened->name))
            opened->name[used++] = (char)byte;
        opened->name[used] = 0;
    }
}

static const char *name_of(const struct vs_replay *r, uint64_t fd)
{
    const struct vs_replay_outside *o = &r->outside;
    for (unsigned i = 1; i <= VS_REPLAY_OPENED && i <= o->opened_at; i++) {
        const struct vs_replay_opened *opened = &o->opened[(o->opened_at - i) % VS_REPLAY_OPENED];
        if (opened->fd == fd)
            return opened->name;
    }
    return "";
}

/* A call brought memory, or made it executable. */
static int bring_images(struct vs_replay *r, unsigned core, const struct vs_call_made *c)
{
    enum { EXECUTE = 4, FIXED = 0x10, ANONYMOUS = 0x20 };
    const uint64_t *a = c->args;
    bool maps = c->what == VS_SYS_mmap;
    uint64_t addr = maps ? c->result : a[0], size = (a[1] + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    if (!r->config.loaded || !size)
        return 0;
    if (a[2] & EXECUTE) {
        unsigned image =
            vs_present_came(&r->outside.present, r->config.loaded, r->cores[core].program, addr,
                            size, maps ? name_of(r, (uint32_t)a[4]) : "");
        vs_cpu_flush(r->decoded, addr, size);
        return image == VS_PRESENT_NONE ? 0 : renew_image(r, image);
    }
    return maps && a[3] & FIXED ? renew_parts(r, core, addr, size, !(a[3] & ANONYMOUS)) : 0;
}

static int note_images(struct vs_replay *r, unsigned core, const struct vs_call_made *c)
{
    if ((int64_t)c->result < 0)
        return 0;
    switch (c->what) {
    case VS_SYS_mmap:
    case VS_SYS_mprotect:
    case VS_SYS_pkey_mprotect:
        return bring_images(r, core, c);
    case VS_SYS_open:
    case VS_SYS_openat:
    case VS_SYS_openat2:
        note_opened(r, core, c);
        return 0;
    case VS_SYS_munmap:
        if (r->config.loaded && vs_present_went(&r->outside.present, r->config.loaded,
                                                r->cores[core].program, c->args[0], c->args[1]))
            vs_cpu_flush(r->decoded, c->args[0], c->args[1]);
        return 0;
    default:
        return 0;
    }
}

/* Returns whether all registers for arguments are zero. Where the kernel is real, that is so when a
 * program begins; a thread has some of what its creator called it with. */
static bool is_blank(const struct vs_replay *r, unsigned core)
{
    const struct vs_abi *abi = r->config.isa->abi;
    for (unsigned i = 0; i < sizeof(abi->args) / sizeof(abi->args[0]); i++)
        if (abi->signals || vs_cpu_get(r->cores[core].cpu, abi->args[i]))
            return false;
    return true;
}

static bool is_first(const struct vs_replay *r, unsigned core)
{
    for (unsigned i = 0; i < r->count; i++)
        if (i != core && r->cores[i].started)
            return false;
    return true;
}

int vs_replay_begin(struct vs_replay *r, unsigned core)
{
    struct vs_present *present = &r->outside.present;
    struct vs_replay_core *c = &r->cores[core];
    int err = 0;
    if (!is_first(r, core) &&
        (vs_present_begins(r->config.loaded, c->cpu->pc) || is_blank(r, core))) {
        vs_present_exec(present);
        for (unsigned i = 0; i < r->view_count; i++)
            vs_copy_fini(&r->views[i]);
        vs_copy_fini(&r->code.stored);
        vs_copy_fini(&r->code.image);
        vs_copy_fini(&r->outside.gone);
        r->code.changed = r->outside.all = false;
        r->outside.brk = r->outside.thread_count = 0;
        err = add_map(r, 0, r->config.isa->user_end, false, 0);
    }
    c->program = present->program_count - 1;
    return err;
}

/* ---- after a call ---------------------------------------------------------------------------- */

/* The rights to the memory at that address, as the last call about it said. */
static unsigned rights_of(const struct vs_replay *r, uint64_t addr)
{
    for (size_t i = r->map_count; i--;)
        if (addr - r->maps[i].addr < r->maps[i].size)
            return r->maps[i].rights;
    return PROT_READ | PROT_WRITE;
}

static int note_maps(struct vs_replay *r, const struct vs_call_made *c)
{
    const uint64_t *a = c->args, up = PAGE - 1;
    unsigned rights = c->what == VS_SYS_mremap ? rights_of(r, a[0]) : 0;
    int err;
    if ((int64_t)c->result < 0)
        return 0;
    switch (c->what) {
    case VS_SYS_mmap:
        return add_map(r, c->result, (a[1] + up) & ~up, true, a[2]);
    case VS_SYS_munmap:
        return add_map(r, a[0], (a[1] + up) & ~up, false, 0);
    case VS_SYS_mprotect:
        return add_map(r, a[0], (a[1] + up) & ~up, true, a[2]);
    case VS_SYS_mremap:
        err = add_map(r, a[0], (a[1] + up) & ~up, false, 0);
        return err ? err : add_map(r, c->result, (a[2] + up) & ~up, true, rights);
    default:
        return 0;
    }
}

/* Notes where the heap now ends. */
static int note_brk(struct vs_replay *r, unsigned core, uint64_t now)
{
    uint64_t before = r->outside.brk, end = (now + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    uint64_t was = (before + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    int err = 0;
    r->outside.brk = now;
    if (before && end != was)
        err = end < was ? add_map(r, end, was - end, false, 0)
                        : add_map(r, was, end - was, true, PROT_READ | PROT_WRITE);
    return !err && before && end < was ? forget(r, core, end, was - end) : err;
}

int vs_replay_after_call(struct vs_replay *r, unsigned core)
{
    struct vs_replay_core *c = &r->cores[core];
    struct caller caller = {r, core};
    const struct vs_call_memory m = {read_before, kernel_wrote, &caller};
    struct vs_call_thread thread;
    vs_replay_thread_called(r, core);
    vs_replay_frame_called(r, core);
    switch (c->call.what) {
    case VS_SYS_exit:
        return exit_thread(r, core);
    case VS_SYS_set_tid_address:
        c->clears = c->call.args[0];
        return 0;
    case VS_SYS_set_robust_list:
        c->robust = (int64_t)c->call.result < 0 ? c->robust : c->call.args[0];
        return 0;
    case VS_SYS_brk:
        return note_brk(r, core, c->call.result);
    default:
        break;
    }
    bool starts = vs_call_starts(&c->call, &m, &thread);
    if (starts)
        vs_replay_thread_made(r, core, &thread);
    int err = starts ? note_thread(r, &thread) : 0;
    if (!err)
        err = note_maps(r, &c->call);
    if (!err)
        err = vs_call_tell(&c->call, &m);
    return err ? err : note_images(r, core, &c->call);
}

/* A frame of a kernel that is not simulated lies between the stack pointers before and after, or,
 * if the handler has a stack of its own, at that stack's end. */
static int forget_frame(struct vs_replay *r, unsigned core)
{
    enum { FRAME_MOST = 8192 };
    uint64_t sp = vs_cpu_get(r->cores[core].cpu, r->config.isa->abi->stack);
    uint64_t before = r->cores[core].interrupted_sp;
    uint64_t size = before - sp < FRAME_MOST ? before - sp : FRAME_MOST;
    r->outside.cautious = true;
    int err = forget(r, core, sp, size);
    return err ? err : vs_replay_frame_fill(r, core);
}

/* Only those parts of the frame that the kernel fills in become unknown. */
int vs_replay_after_signal(struct vs_replay *r, unsigned core)
{
    const struct vs_abi_signals *abi = r->config.isa->abi->signals;
    if (!abi)
        return forget_frame(r, core);
    uint64_t sp = vs_cpu_get(r->cores[core].cpu, r->config.isa->abi->stack);
    int err = 0;
    for (unsigned i = 0; i < abi->part_count && !err; i++)
        err = forget(r, core, sp + abi->parts[i].from,
                     (uint64_t)abi->parts[i].to - abi->parts[i].from);
    return err;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Gets a byte of code that the cores did not tell. A run's code has as many versions as there are
 * changes in its stream; files have one. */
static bool fetch_text(const struct vs_replay *r, unsigned core, uint64_t addr, uint8_t *byte)
{
    return vs_text_fetch(r->config.code, (uint32_t)r->cores[core].changes, addr, byte, 1);
}

/* Gets what cores other than this one know about a byte. Returns 1 if they agree; 0 if none knows
 * it; -1 if they do not agree. */
static int ask_others(struct vs_replay *r, unsigned core, uint64_t addr, uint8_t *byte)
{
    int any = 0;
    for (unsigned i = 0; i < r->view_count && r->view_count > 1; i++) {
        uint8_t other;
        if (i == core || r->cores[i].program != r->cores[core].program ||
            vs_copy_read(&r->views[i], addr, &other, 1))
            continue;
        if (any && other != *byte)
            return -1;
        *byte = other;
        any = 1;
    }
    return any;
}

enum source {
    SOURCE_NONE,  /* nothing tells it, except perhaps the code */
    SOURCE_LOST,  /* it was written, and is not known */
    SOURCE_CORES, /* the cores tell it */
    SOURCE_FILE,  /* no core has seen it: it is as in the file unless somebody wrote it */
};

static enum source find_byte(struct vs_replay *r, unsigned core, uint64_t addr, uint8_t *byte,
                             const struct vs_loaded_part **part)
{
    if (!vs_copy_read(vs_replay_view(r, core), addr, byte, 1))
        return SOURCE_CORES;
    /* Another core may have seen the byte before the kernel wrote it, or after. */
    bool gone = is_marked(&r->outside.gone, addr);
    int others = gone || r->outside.all ? 0 : ask_others(r, core, addr, byte);
    if (others || gone)
        return others > 0 ? SOURCE_CORES : SOURCE_LOST;
    if (!find_part(r, core, addr, false, part) || ((*part)->writable && r->outside.all))
        return SOURCE_NONE;
    *byte = vs_loaded_byte(*part, addr);
    return SOURCE_FILE;
}

static bool is_active(const struct vs_replay *r, unsigned core)
{
    const struct vs_replay_core *c = &r->cores[core];
    return c->started && !c->exited && !c->ended;
}

/* Returns whether nobody else can have written anything that was not seen yet. */
static bool is_alone(const struct vs_replay *r, unsigned core)
{
    for (unsigned i = 0; i < r->count && r->view_count > 1; i++)
        if (i != core && is_active(r, i))
            return false;
    return true;
}

size_t vs_replay_read(struct vs_replay *r, unsigned core, uint64_t addr, uint8_t *bytes,
                      size_t size)
{
    const struct vs_loaded_part *part = NULL;
    bool alone = is_alone(r, core);
    size_t n = 0;
    for (; n < size; n++, addr++) {
        enum source source = find_byte(r, core, addr, &bytes[n], &part);
        if (source == SOURCE_CORES || (source == SOURCE_FILE && (alone || !part->writable)))
            continue;
        if (source == SOURCE_LOST || !fetch_text(r, core, addr, &bytes[n]))
            break;
    }
    return n;
}

/* ---- code ------------------------------------------------------------------------------------ */

/* A byte that no core stored before code changed last is as it was at first, if that is known.
 * Whoever has stored it since did so after it was fetched, or there would be another change. */
static bool fetch_byte(struct vs_replay *r, unsigned core, uint64_t addr, uint8_t *byte,
                       const struct vs_loaded_part **last)
{
    if (!vs_copy_read(&r->code.image, addr, byte, 1))
        return true;
    const struct vs_loaded_part *part = find_part(r, core, addr, false, last);
    if (!is_marked(&r->outside.gone, addr) && !(r->outside.all && part && part->writable)) {
        if (part) {
            *byte = vs_loaded_byte(part, addr);
            return true;
        }
        if (fetch_text(r, core, addr, byte))
            return true;
    }
    return vs_replay_read(r, core, addr, byte, 1);
}

/* Before the first change of code, no other core has written code that a file has. In a stream that
 * does not tell changes, a core fetches what it stored itself. */
static bool fetch_first(struct vs_replay *r, unsigned core, uint64_t addr, uint8_t *byte,
                        const struct vs_loaded_part **last)
{
    const struct vs_loaded_part *part = find_part(r, core, addr, false, last);
    bool own = r->view_count > 1 && is_marked(&r->views[core], addr);
    if (!part || r->count == 1 || own || r->outside.all || is_marked(&r->outside.gone, addr))
        return vs_replay_read(r, core, addr, byte, 1);
    *byte = vs_loaded_byte(part, addr);
    return true;
}

size_t vs_replay_fetch(struct vs_replay *r, unsigned core, uint64_t addr, uint8_t *bytes,
                       size_t size)
{
    const struct vs_loaded_part *part = NULL;
    size_t n = 0;
    find_part(r, core, addr, true, &part); /* only the first byte is sure to be executed */
    while (n < size && (r->code.changed ? fetch_byte(r, core, addr + n, &bytes[n], &part)
                                        : fetch_first(r, core, addr + n, &bytes[n], &part)))
        n++;
    return n;
}

/* Forgets what was decoded of pages that one copy has and the other has not, or has otherwise. */
static void flush_changed(struct vs_replay *r, const struct vs_copy *one,
                          const struct vs_copy *other)
{
    const struct vs_copy_page *page;
    for (struct vs_copy_walk walk = {0}; (page = vs_copy_next(one, &walk));) {
        const struct vs_copy_page *same = vs_copy_look(other, page->number);
        if (same != page && (!same || memcmp(same->bytes, page->bytes, sizeof(page->bytes)) ||
                             memcmp(same->known, page->known, sizeof(page->known))))
            vs_cpu_flush(r->decoded, page->number << VS_COPY_BITS, VS_COPY_PAGE);
    }
}

int vs_replay_change_code(struct vs_replay *r)
{
    struct vs_copy image;
    int err = vs_copy_clone(&image, r->view_count > 1 ? &r->code.stored : &r->views[0]);
    if (err)
        return err;
    const struct vs_text *text = r->config.code;
    if (r->code.changes && r->code.changes <= text->change_count)
        vs_cpu_flush(r->decoded, text->changes[r->code.changes - 1].addr,
                     text->changes[r->code.changes - 1].size);
    flush_changed(r, &image, &r->code.image);
    flush_changed(r, &r->code.image, &image);
    vs_copy_fini(&r->code.image);
    r->code.image = image;
    r->code.changed = true;
    r->code.due = false;
    return 0;
}

int vs_replay_code_clone(struct vs_replay_code *to, struct vs_replay_code *from)
{
    *to = *from;
    vs_copy_init(&to->image);
    int err = vs_copy_clone(&to->stored, &from->stored);
    if (!err)
        err = vs_copy_clone(&to->image, &from->image);
    if (err)
        vs_replay_code_fini(to);
    return err;
}

void vs_replay_code_fini(struct vs_replay_code *c)
{
    vs_copy_fini(&c->stored);
    vs_copy_fini(&c->image);
}

/* ---- ahead ----------------------------------------------------------------------------------- */

/* Messages alone tell where another core was when this one was where it now stands: it was before
 * the first of its own messages that follows this core's next one. */
struct scout {
    struct vs_replay *r;
    unsigned core;
    bool passed; /* the core has got its next message */
    bool done;
    bool *behind; /* by core: it has not got one of its own since */
};

static int take_note(void *context, unsigned core)
{
    struct scout *s = context;
    const struct vs_replay *r = s->r;
    if (s->passed)
        s->behind[core] = false;
    else if (core != s->core)
        return 0;
    for (unsigned i = 0; i < r->count && !s->passed; i++)
        s->behind[i] = i != s->core && is_active(r, i) && !r->cores[i].called;
    s->passed = s->done = true;
    for (unsigned i = 0; i < r->count; i++)
        s->done &= !s->behind[i];
    return s->done ? -VSE_END : 0; /* which ends the run */
}

/* Runs until it is known what others may have written by now. Returns whether that is known. */
static bool scout_on(struct vs_replay *r, struct scout *s)
{
    const struct vs_replay_goal goal = {
        .position = r->position + AHEAD_MOST, .core = VS_REPLAY_NONE, .retired = UINT64_MAX};
    int stop;
    do
        stop = vs_replay_run(r, &goal);
    while (stop == VS_REPLAY_BREAK || stop == VS_REPLAY_WATCH);
    return s->done || stop == VS_REPLAY_OVER;
}

static bool look_ahead(struct vs_replay *r, unsigned core, struct vs_copy *written)
{
    struct scout s = {.r = r, .core = core, .behind = calloc(r->count, sizeof(bool))};
    const struct vs_replay_hook hook = r->hook;
    vs_replay_output *output = r->config.output;
    struct vs_replay_state *here = NULL;
    bool known = false;
    if (s.behind && !vs_replay_save(r, &here)) {
        r->hook = (struct vs_replay_hook){.message = take_note, .context = &s};
        r->config.output = NULL;
        r->noted = written;
        r->noter = core;
        s.passed = !is_active(r, core);
        for (unsigned i = 0; i < r->count && s.passed; i++)
            s.behind[i] = is_active(r, i) && !r->cores[i].called;
        known = scout_on(r, &s);
        r->noted = NULL;
        r->config.output = output;
        r->hook = hook;
        known = !vs_replay_restore(r, here) && known;
    }
    vs_replay_drop(here);
    free(s.behind);
    return known;
}

/* Returns whether others may have written a byte that no core is known to have written. */
static bool may_be_written(struct vs_replay *r, unsigned core, uint64_t addr)
{
    struct vs_replay_ahead *a = &r->ahead;
    if (!a->valid || a->core != core || a->position != r->position ||
        a->messages != r->reader.messages) {
        vs_copy_fini(&a->written);
        a->core = core;
        a->position = r->position;
        a->messages = r->reader.messages;
        a->all = !look_ahead(r, core, &a->written);
        a->valid = true;
    }
    return a->all || is_marked(&a->written, addr);
}

size_t vs_replay_look(struct vs_replay *r, unsigned core, uint64_t addr, uint8_t *bytes,
                      size_t size)
{
    const struct vs_loaded_part *part = NULL;
    bool alone = is_alone(r, core);
    size_t n = 0;
    for (; n < size; n++, addr++) {
        enum source source = find_byte(r, core, addr, &bytes[n], &part);
        if (source == SOURCE_FILE && !alone && part->writable && may_be_written(r, core, addr))
            break;
        if (source == SOURCE_LOST ||
            (source == SOURCE_NONE && (part || !fetch_text(r, core, addr, &bytes[n]))))
            break;
    }
    return n;
}

/* ---- checkpoints ----------------------------------------------------------------------------- */

int vs_replay_outside_clone(struct vs_replay_outside *to, struct vs_replay_outside *from,
                            unsigned cores)
{
    *to = *from;
    to->threads = malloc(cores * sizeof(*to->threads));
    int err = vs_copy_clone(&to->gone, &from->gone);
    int e = vs_present_clone(&to->present, &from->present);
    if (!err && (!to->threads || e))
        err = -VSE_NOMEM;
    if (!err)
        memcpy(to->threads, from->threads, cores * sizeof(*to->threads));
    else
        vs_replay_outside_fini(to);
    return err;
}

void vs_replay_outside_fini(struct vs_replay_outside *o)
{
    vs_copy_fini(&o->gone);
    vs_present_fini(&o->present);
    free(o->threads);
    o->threads = NULL;
}
