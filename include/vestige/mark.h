/* SPDX-License-Identifier: MIT */
/* Marks in a program's own source that say which part of it to record.
 *
 *     vestige_start();
 *     compute();
 *     vestige_stop();
 *
 * `vestige record --marks` records what happens between them. Without a recorder they do nothing:
 * they are a few instructions that change no register except the flags. They need gcc or clang; on
 * processors other than x86-64 and RV64, nothing is compiled.
 */
#ifndef VESTIGE_MARK_H
#define VESTIGE_MARK_H

#define VESTIGE_MARK_START 0x56530001u
#define VESTIGE_MARK_STOP  0x56530002u

#if defined(__x86_64__) && defined(__GNUC__)
/* The sequence with which a program talks to Valgrind; the rotations add up to 128, so they have no
 * effect. */
#define VESTIGE_MARK_(request)                                                                     \
    do {                                                                                           \
        volatile unsigned long vestige_args_[6] = {request, 0, 0, 0, 0, 0};                        \
        unsigned long vestige_result_ = 0;                                                         \
        __asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi; rolq $51, %%rdi\n\t"   \
                         "xchgq %%rbx, %%rbx"                                                      \
                         : "+d"(vestige_result_)                                                   \
                         : "a"(&vestige_args_[0])                                                  \
                         : "cc", "memory");                                                        \
    } while (0)
#elif defined(__riscv) && __riscv_xlen == 64 && defined(__GNUC__)
/* A hint instruction, which no processor acts on: lui x0 with the low 20 bits of the request. */
#define VESTIGE_MARK_(request)                                                                     \
    __asm__ volatile(".option push; .option norvc; lui x0, %0; .option pop"                        \
                     :                                                                             \
                     : "i"((request)&0xfffff)                                                      \
                     : "memory")
#else
#define VESTIGE_MARK_(request) ((void)0)
#endif

static inline void vestige_start(void)
{
    VESTIGE_MARK_(VESTIGE_MARK_START);
}

static inline void vestige_stop(void)
{
    VESTIGE_MARK_(VESTIGE_MARK_STOP);
}

#endif
