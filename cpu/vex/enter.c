/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "enter.h"

#include <libvex_guest_offsets.h>

/* VEX demands that rbp points to the frame and that rsp is a multiple of 16. A direct branch that
 * is not linked yet calls us, so that its place is on the stack, after a mov of 10 bytes and the
 * call of 3. An assisted exit has its reason in rbp. */
#define CALL_LENGTH "13"

#define STR2(x) #x
#define STR(x)  STR2(x)

_Static_assert(offsetof(struct frame, lane) + offsetof(struct lane, stack) == 928, "as below");
_Static_assert(offsetof(struct frame, lane) + offsetof(struct lane, targets) == 936, "as below");
_Static_assert(sizeof(struct target) == 16 && TARGETS == 16384, "as below");
_Static_assert(LEFT_CHAIN_SLOW == 1 && LEFT_CHAIN_FAST == 2 && LEFT_INDIRECT == 3 &&
                   LEFT_ASSISTED == 4 && LEFT_COUNTER == 5 && LEFT_ESCAPE == 6,
               "as below");

/* clang-format off */
__asm__(
    ".text\n"
    ".globl enter_code, enter_escape, enter_chain_slow, enter_chain_fast, enter_indirect\n"
    ".globl enter_assisted, enter_counter\n"
    ".hidden enter_code, enter_escape, enter_chain_slow, enter_chain_fast, enter_indirect\n"
    ".hidden enter_assisted, enter_counter\n"
    ".type enter_code, @function\n"
    ".type enter_escape, @function\n"
    "enter_code:\n"
    "    pushq %rbp\n"
    "    pushq %rbx\n"
    "    pushq %r12\n"
    "    pushq %r13\n"
    "    pushq %r14\n"
    "    pushq %r15\n"
    "    pushq %rdx\n"              /* site */
    "    pushq %rdi\n"              /* frame */
    "    subq $8, %rsp\n"           /* a multiple of 16 again */
    "    movq %rsp, 928(%rdi)\n"
    "    movq %rdi, %rbp\n"
    "    jmp *%rsi\n"
    "enter_chain_slow:\n"
    "    popq %rdx\n"
    "    subq $" CALL_LENGTH ", %rdx\n"
    "    movl $1, %eax\n"
    "    jmp left\n"
    "enter_chain_fast:\n"
    "    popq %rdx\n"
    "    subq $" CALL_LENGTH ", %rdx\n"
    "    movl $2, %eax\n"
    "    jmp left\n"
    "enter_indirect:\n"
    "    movq " STR(OFFSET_amd64_RIP) "(%rbp), %rax\n"
    "    movq 936(%rbp), %rdx\n"
    "    movq %rax, %rcx\n"
    "    shrq $14, %rcx\n"
    "    xorl %eax, %ecx\n"
    "    andl $16383, %ecx\n"
    "    shlq $4, %rcx\n"
    "    addq %rdx, %rcx\n"
    "    cmpq %rax, (%rcx)\n"
    "    jne 1f\n"
    "    jmp *8(%rcx)\n"
    "1:  xorl %edx, %edx\n"
    "    movl $3, %eax\n"
    "    jmp left\n"
    "enter_assisted:\n"
    "    movq %rbp, %rdx\n"
    "    movl $4, %eax\n"
    "    jmp left\n"
    "enter_counter:\n"
    "    xorl %edx, %edx\n"
    "    movl $5, %eax\n"
    "    jmp left\n"
    "enter_escape:\n"
    "    movq 928(%rdi), %rsp\n"
    "    xorl %edx, %edx\n"
    "    movl $6, %eax\n"
    "left:\n"
    "    addq $8, %rsp\n"
    "    popq %rdi\n"
    "    popq %rcx\n"
    "    movq %rdx, (%rcx)\n"
    "    popq %r15\n"
    "    popq %r14\n"
    "    popq %r13\n"
    "    popq %r12\n"
    "    popq %rbx\n"
    "    popq %rbp\n"
    "    ret\n"
    ".size enter_code, . - enter_code\n");
/* clang-format on */
