/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory that the program may write to, and that other processes may have, too: nothing tells when
 * they change it. What is mapped from a file may be theirs at any time; what is of no file is, once
 * the program forks. */
#include "pub_tool_aspacemgr.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"
#include "tool.h"

/* linux/mman.h: the flags of mmap that say how it is mapped, which share what is written. */
#define HOW_MAPPED   0xf
#define HOW_SHARED   1
#define HOW_VERIFIED 3

/* So much of a path is told. */
#define PATH_TOLD 4096u

static void tell(UInt kind, Addr a)
{
    const NSegment *s = kind == WIRE_SHARED_FILE ? VG_(am_find_nsegment)(a) : NULL;
    const HChar *path = s ? VG_(am_get_filename)(s) : NULL;
    UInt size = path ? VG_(strlen)(path) : 0;
    struct wire_shared *shared;

    size = size < PATH_TOLD ? size : PATH_TOLD;
    shared = ring_record(WIRE_SHARED, 0, sizeof(*shared) + size);
    if (shared) {
        *shared = (struct wire_shared){kind, size};
        VG_(memcpy)(shared + 1, path, size);
    }
    ring_done();
}

/* If there are too many, the last ones are not known to be unmapped. */
static void add(UInt kind, Addr a)
{
    struct shared *s = &the.shared[the.shared_count];

    if (the.shared_count < SHARED_MAX)
        the.shared_count++;
    else
        s--;
    *s = (struct shared){a, kind};
    if (kind != WIRE_SHARED_FORK)
        tell(kind, a);
}

void shared_mapped(ThreadId tid, ULong result)
{
    const ULong *args = the.threads[tid].args;
    ULong how = args[3] & HOW_MAPPED;

    if (the.threads[tid].call == __NR_shmat && !(args[2] & VKI_SHM_RDONLY))
        add(WIRE_SHARED_SEGMENT, result);
    if (the.threads[tid].call == __NR_mmap && (how == HOW_SHARED || how == HOW_VERIFIED) &&
        args[2] & VKI_PROT_WRITE)
        add(args[3] & VKI_MAP_ANONYMOUS ? WIRE_SHARED_FORK : WIRE_SHARED_FILE, result);
}

void shared_unmapped(Addr a, SizeT length)
{
    UInt kept = 0;

    for (UInt i = 0; i < the.shared_count; i++)
        if (the.shared[i].start - a >= length)
            the.shared[kept++] = the.shared[i];
    the.shared_count = kept;
}

void shared_forked(void)
{
    for (UInt i = 0; i < the.shared_count; i++)
        if (the.shared[i].kind == WIRE_SHARED_FORK) {
            tell(WIRE_SHARED_FORK, 0);
            the.forked = True;
            return;
        }
}

void shared_anew(void)
{
    for (UInt i = 0; i < the.shared_count; i++)
        if (the.shared[i].kind != WIRE_SHARED_FORK || the.forked)
            tell(the.shared[i].kind, the.shared[i].start);
}
