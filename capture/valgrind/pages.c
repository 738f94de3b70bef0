/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which pages there are: there can be a lot of memory that never was touched. */
#include "pub_tool_libcfile.h"
#include "pub_tool_vki.h"
#include "tool.h"

/* In the kernel's pagemap: the page is in memory, or is swapped out. */
#define PAGE_IS_THERE (3ull << 62)

/* Offered by Valgrind's core, whose headers Debian does not install. */
extern SysRes VG_(pread)(Int fd, void *buffer, Int count, OffT offset);

Int pages_open(void)
{
    SysRes r = VG_(open)("/proc/self/pagemap", VKI_O_RDONLY, 0);

    return sr_isError(r) ? -1 : (Int)sr_Res(r);
}

UInt pages_read(Int fd, Addr a, SizeT pages, UChar *there)
{
    static ULong entries[PAGES_MOST];
    SizeT wanted = pages < PAGES_MOST ? pages : PAGES_MOST;
    SysRes r =
        VG_(pread)(fd, entries, wanted * sizeof(*entries), a / VKI_PAGE_SIZE * sizeof(*entries));
    UInt got = sr_isError(r) ? 0 : sr_Res(r) / sizeof(*entries);

    for (UInt i = 0; i < got; i++)
        there[i] = (entries[i] & PAGE_IS_THERE) != 0;
    return got;
}
