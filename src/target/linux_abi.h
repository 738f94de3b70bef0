/* SPDX-License-Identifier: MIT */
/* What a program and the simulated platform's Linux agree on, where it is neither what the host's
 * headers say nor the ISA's own (isa/abi.h): structures as on architectures that use the kernel's
 * generic headers, and where memory lies.
 * Constants that are the same for all newer architectures (errno, open, mmap, clone, futex,
 * signals) come from the host's headers; files that use them assert those that differ on some. */
#ifndef TARGET_LINUX_ABI_H
#define TARGET_LINUX_ABI_H

#include <stdint.h>

#include "isa/abi.h"

/* Addresses are as with 39 bits of virtual address. */
#define VS_LINUX_TOP        (UINT64_C(1) << 38)
#define VS_LINUX_TRAMPOLINE (VS_LINUX_TOP - 8 * 4096) /* a page: returns from signal handlers */
#define VS_LINUX_STACK_TOP  (VS_LINUX_TOP - 16 * 4096)
#define VS_LINUX_STACK_SIZE (UINT64_C(8) << 20)
#define VS_LINUX_MMAP_TOP   (VS_LINUX_STACK_TOP - (UINT64_C(128) << 20))
#define VS_LINUX_PIE_BASE   UINT64_C(0x2aaaaaa000)
#define VS_LINUX_LOWEST     UINT64_C(0x10000) /* mmap gives nothing below */

#define VS_LINUX_PID   1000
#define VS_LINUX_PPID  999
#define VS_LINUX_UID   1000
#define VS_LINUX_EPOCH UINT64_C(946684800) /* the real time at the start: 2000-01-01 */

#define VS_LINUX_SIGRTMIN  32
#define VS_LINUX_SI_KERNEL 0x80

struct vs_linux_stat {
    uint64_t dev, ino;
    uint32_t mode, nlink, uid, gid;
    uint64_t rdev, pad1;
    int64_t size;
    int32_t blksize, pad2;
    int64_t blocks;
    int64_t atime, atime_ns, mtime, mtime_ns, ctime, ctime_ns;
    uint32_t unused[2];
};
_Static_assert(sizeof(struct vs_linux_stat) == 128, "struct stat");

struct vs_linux_time {
    int64_t seconds, rest; /* timespec: nanoseconds; timeval: microseconds */
};

struct vs_linux_interval {
    struct vs_linux_time interval, value;
};

struct vs_linux_sigaction {
    uint64_t handler, flags, mask;
};

struct vs_linux_stack {
    uint64_t sp;
    int32_t flags;
    uint32_t pad;
    uint64_t size;
};

struct vs_linux_siginfo {
    int32_t number, error, code, pad;
    uint32_t first, second; /* pid and uid; timer and overrun; halves of an address */
    uint64_t value;
    uint8_t rest[96];
};
_Static_assert(sizeof(struct vs_linux_siginfo) == 128, "siginfo_t");

struct vs_linux_sigevent {
    uint64_t value;
    int32_t signal, notify, tid, pad[11];
};
_Static_assert(sizeof(struct vs_linux_sigevent) == 64, "sigevent");

#endif
