/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "translate.h"

#include <cpuid.h>
#include <pthread.h>
#include <setjmp.h>
#include <string.h>

#include <libvex.h>

#include "rewrite.h"
#include "vestige/error.h"

/* LibVEX's own settings, which can be changed between translations; its headers do not name them.
 */
extern VexControl vex_control;

#define HOST_CODE 65536 /* bytes of a block's translation, at most */
#define PADDING   64    /* bytes beyond the code's end that LibVEX may look at */

/* LibVEX is one for the whole process: whoever translates holds the lock. */
static struct {
    pthread_mutex_t lock;
    bool ready;
    VexArchInfo arch;
    VexAbiInfo abi;
    jmp_buf gave_up;
    uint8_t code[HOST_CODE];
} vex = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- LibVEX ---------------------------------------------------------------------------------- */

static _Noreturn void give_up(void)
{
    longjmp(vex.gave_up, 1);
}

static void say_nothing(const HChar *bytes, SizeT size)
{
    (void)bytes, (void)size;
}

/* What the host's processor has, as Valgrind finds it out. */
static UInt capabilities(void)
{
    unsigned a, b, c, d, most, caps = 0;
    bool avx = false;
    __cpuid(0, most, b, c, d);
    __cpuid(1, a, b, c, d);
    if (c & 1 << 27 && c & 1 << 28) { /* XSAVE is in use, and there is AVX */
        unsigned low, high;
        __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
        avx = (low & 6) == 6;
    }
    caps |= c & 1 << 0 ? VEX_HWCAPS_AMD64_SSE3 : 0;
    caps |= c & 1 << 9 ? VEX_HWCAPS_AMD64_SSSE3 : 0;
    caps |= c & 1 << 13 ? VEX_HWCAPS_AMD64_CX16 : 0;
    caps |= avx ? VEX_HWCAPS_AMD64_AVX : 0;
    caps |= avx && c & 1 << 29 ? VEX_HWCAPS_AMD64_F16C : 0;
    caps |= c & 1 << 30 ? VEX_HWCAPS_AMD64_RDRAND : 0;
    if (most >= 7 && avx) {
        __cpuid_count(7, 0, a, b, c, d);
        caps |= b & 1 << 3 ? VEX_HWCAPS_AMD64_BMI : 0;
        caps |= b & 1 << 5 ? VEX_HWCAPS_AMD64_AVX2 : 0;
        caps |= b & 1 << 18 ? VEX_HWCAPS_AMD64_RDSEED : 0;
    }
    __cpuid(0x80000001, a, b, c, d);
    caps |= c & 1 << 5 ? VEX_HWCAPS_AMD64_LZCNT : 0;
    caps |= d & 1 << 27 ? VEX_HWCAPS_AMD64_RDTSCP : 0;
    return caps;
}

/* Counts are exact only if VEX neither follows branches nor unrolls loops, and registers only if
 * they are set with each instruction. */
static void prepare(void)
{
    VexControl control;
    LibVEX_default_VexControl(&control);
    control.iropt_register_updates_default = VexRegUpdAllregsAtEachInsn;
    control.iropt_unroll_thresh = 0;
    control.guest_chase = False;
    control.guest_max_insns = BLOCK_INSNS;
    LibVEX_Init(give_up, say_nothing, 0, &control);
    LibVEX_default_VexArchInfo(&vex.arch);
    vex.arch.hwcaps = capabilities();
    vex.arch.endness = VexEndnessLE;
    LibVEX_default_VexAbiInfo(&vex.abi);
    vex.abi.guest_stack_redzone_size = 128;
    vex.abi.guest_amd64_assume_fs_is_const = True;
    vex.abi.guest_amd64_assume_gs_is_const = True;
    vex.ready = true;
}

static Bool no_chasing(void *context, Addr addr)
{
    (void)context, (void)addr;
    return False;
}

static UInt no_self_check(void *context, VexRegisterUpdates *updates,
                          const VexGuestExtents *extents)
{
    (void)context, (void)extents;
    *updates = VexRegUpdAllregsAtEachInsn;
    return 0;
}

/* Returns the size of the code in vex.code; 0 if LibVEX gave up. */
static size_t through_vex(struct rewrite *r)
{
    VexGuestExtents extents;
    Int used = 0;
    VexTranslateArgs args = {
        .arch_guest = VexArchAMD64,
        .archinfo_guest = vex.arch,
        .arch_host = VexArchAMD64,
        .archinfo_host = vex.arch,
        .abiinfo_both = vex.abi,
        .callback_opaque = r,
        .guest_bytes = r->bytes,
        .guest_bytes_addr = r->addr,
        .chase_into_ok = no_chasing,
        .guest_extents = &extents,
        .host_bytes = vex.code,
        .host_bytes_size = sizeof(vex.code),
        .host_bytes_used = &used,
        .instrument1 = rewrite_block,
        .needs_self_check = no_self_check,
        .disp_cp_chain_me_to_slowEP = enter_chain_slow,
        .disp_cp_chain_me_to_fastEP = enter_chain_fast,
        .disp_cp_xindir = enter_indirect,
        .disp_cp_xassisted = enter_assisted,
    };
    if (setjmp(vex.gave_up))
        return 0;
    VexTranslateResult result = LibVEX_Translate(&args);
    return result.status == VexTransOK ? (size_t)used : 0;
}

/* ---- a block --------------------------------------------------------------------------------- */

static struct site *site_room(void *cache)
{
    return cache_room(cache, sizeof(struct site));
}

/* Fetches what lies before the code: as many of a request's rotations as are there. Returns as
 * fetch. */
static int fetch_before(struct core *c, uint8_t *bytes)
{
    struct vs_cpu_memory *memory = c->cpu.memory;
    uint64_t fault = c->cpu.fault;
    int n = 0;
    for (int size = REQUEST_LENGTH; size > n && n >= 0; size -= REQUEST_ROTATION) {
        memset(bytes, 0, REQUEST_LENGTH);
        n = memory->ops->fetch(memory, &c->cpu, c->cpu.pc - (uint64_t)size,
                               bytes + REQUEST_LENGTH - size, (size_t)size);
    }
    if (n >= 0)
        c->cpu.fault = fault;
    return n;
}

/* Fetches code and what lies before it. Returns how many bytes of it there are; as fetch. */
static int fetch(struct core *c, uint8_t *bytes)
{
    struct vs_cpu_memory *memory = c->cpu.memory;
    int n = fetch_before(c, bytes);
    if (n < 0)
        return n;
    memset(bytes + REQUEST_LENGTH, 0, BLOCK_BYTES + PADDING);
    return memory->ops->fetch(memory, &c->cpu, c->cpu.pc, bytes + REQUEST_LENGTH, BLOCK_BYTES);
}

static size_t translate_some(struct rewrite *r, unsigned most)
{
    r->most = most;
    vex_control.guest_max_insns = (Int)most;
    return through_vex(r);
}

static int translate_held(struct core *c, struct cache *cache, bool single, struct block **block)
{
    uint8_t bytes[REQUEST_LENGTH + BLOCK_BYTES + PADDING];
    struct rewrite r = {.bytes = bytes + REQUEST_LENGTH,
                        .addr = c->cpu.pc,
                        .of = &cache->head,
                        .new_site = site_room,
                        .context = cache};
    if (!spot_fits(r.addr) || !spot_fits(r.addr + BLOCK_BYTES)) {
        c->cpu.fault = r.addr;
        return VS_STOP_FETCH_FAULT;
    }
    int known = fetch(c, bytes);
    if (known <= 0)
        return known < 0 ? known : VS_STOP_FETCH_FAULT;
    r.size = (size_t)known;
    unsigned most = single ? 1 : BLOCK_INSNS;
    if (rewrite_is_request(r.bytes)) {
        /* VEX would take the whole request for one instruction. */
        memset(bytes + REQUEST_LENGTH + REQUEST_ROTATION, 0, BLOCK_BYTES - REQUEST_ROTATION);
        most = 1;
    }
    size_t size = translate_some(&r, most);
    if (!size && most > 1 && !r.failed)
        size = translate_some(&r, most = 1); /* it may have been too long */
    if (r.failed)
        return -VSE_NOMEM;
    if (!size)
        return VS_STOP_ILLEGAL;
    if (r.beyond) {
        c->cpu.fault = r.addr + r.size;
        return VS_STOP_FETCH_FAULT;
    }
    const struct block b = {.pc = r.addr,
                            .bytes = r.bytes,
                            .length = r.length,
                            .insns = (uint16_t)r.insns,
                            .single = single,
                            .repeats = r.repeats,
                            .stops = vs_cpu_stops(&cache->head, r.addr)};
    *block = cache_add(cache, &b, vex.code, size);
    return *block ? 0 : -VSE_NOMEM;
}

int translate(struct core *c, struct cache *cache, bool single, struct block **block)
{
    pthread_mutex_lock(&vex.lock);
    if (!vex.ready)
        prepare();
    int err = translate_held(c, cache, single, block);
    pthread_mutex_unlock(&vex.lock);
    if (err || !cache->head.decoded)
        return err;
    return cache->head.decoded(cache->head.context, &c->cpu, (*block)->pc, (*block)->length,
                               (*block)->insns);
}
