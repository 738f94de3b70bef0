/* SPDX-License-Identifier: MIT */
/* What RISC-V's own <asm/unistd.h> asks of the generic one. */
#define __ARCH_WANT_NEW_STAT
#define __ARCH_WANT_SET_GET_RLIMIT
#define __ARCH_WANT_SYS_CLONE3
#define __ARCH_WANT_MEMFD_SECRET
#include <asm-generic/unistd.h>

/* Its own calls: __NR_arch_specific_syscall, 244, and 14 or 15. */
#define __NR_riscv_hwprobe      258
#define __NR_riscv_flush_icache 259

#include "study/syscall_list.h"
#include "study/syscalls.h"

const struct vs_syscall_row vs_syscalls_rv64[] = {VS_SYSCALLS{0}};
