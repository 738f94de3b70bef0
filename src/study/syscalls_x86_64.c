/* SPDX-License-Identifier: MIT */
#include <asm/unistd_64.h>

#include "study/syscall_list.h"
#include "study/syscalls.h"

const struct vs_syscall_row vs_syscalls_x86_64[] = {VS_SYSCALLS{0}};
