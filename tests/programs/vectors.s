# SPDX-License-Identifier: MIT
# needs avx2 bmi1 bmi2 xsave
# Vectors of 16 and 32 bytes, masked and gathered ones, and the areas that hold all of the processor's state.
    .intel_syntax noprefix
    .globl _start
    .data
    .balign 64
v: .quad 0x0706050403020100, 0x0f0e0d0c0b0a0908, 0x1716151413121110, 0x1f1e1d1c1b1a1918
mask: .long 0x80000000, 0, 0xffffffff, 0x7fffffff, 0, 0, 0, 0x80000000
index: .long 3, 0, 1, 2
    .balign 64
area: .skip 1024
t: .skip 64
    .text
_start:
    movaps xmm0, [v]              #= load 16 v 0x0f0e0d0c0b0a09080706050403020100
    movups xmm1, [v + 1]          #= load 16 v+1 0x100f0e0d0c0b0a090807060504030201
    movaps [t], xmm0              #= store 16 t 0x0f0e0d0c0b0a09080706050403020100
    movups [t + 7], xmm1          #= store 16 t+7 0x100f0e0d0c0b0a090807060504030201
    movntps [t], xmm1             #= store 16 t 0x100f0e0d0c0b0a090807060504030201
    movntdqa xmm2, [t]            #= load 16 t 0x100f0e0d0c0b0a090807060504030201
    lddqu xmm3, [v]               #= load 16 v 0x0f0e0d0c0b0a09080706050403020100
    movss xmm0, [v]               #= load 4 v 0x03020100
    movsd xmm0, qword ptr [v]     #= load 8 v 0x0706050403020100
    movlps [t], xmm1              #= store 8 t 0x0807060504030201
    movhps [t], xmm1              #= store 8 t 0x100f0e0d0c0b0a09
    movq mm0, [v]                 #= load 8 v 0x0706050403020100
    movntq [t], mm0               #= store 8 t 0x0706050403020100
    emms
    paddb xmm0, [v]               #= load 16 v 0x0f0e0d0c0b0a09080706050403020100
    pxor xmm4, xmm4
    pand xmm4, [v]                #= load 16 v 0x0f0e0d0c0b0a09080706050403020100
    pinsrw xmm0, [v + 2], 1       #= load 2 v+2 0x0302
    pextrb [t], xmm1, 3           #= store 1 t 0x04
    pcmpistri xmm1, [v], 0        #= load 16 v 0x0f0e0d0c0b0a09080706050403020100
    aesenc xmm1, [v]              #= load 16 v 0x0f0e0d0c0b0a09080706050403020100
    ldmxcsr [csr]                 #= load 4 csr 0x1f80
    stmxcsr [t]                   #= store 4 t 0x1f80
    vmovups ymm0, [v]             #= load 32 v 0x1f1e1d1c1b1a191817161514131211100f0e0d0c0b0a09080706050403020100
    vmovups [t + 1], ymm0         #= store 32 t+1 0x1f1e1d1c1b1a191817161514131211100f0e0d0c0b0a09080706050403020100
    vmovntdq [t], ymm0            #= store 32 t 0x1f1e1d1c1b1a191817161514131211100f0e0d0c0b0a09080706050403020100
    vmovups [t + 32], xmm0        #= store 16 t+32 0x0f0e0d0c0b0a09080706050403020100
    vaddps ymm1, ymm0, [v]        #= load 32 v 0x1f1e1d1c1b1a191817161514131211100f0e0d0c0b0a09080706050403020100
    vbroadcastss ymm1, [v + 4]    #= load 4 v+4 0x07060504
    vbroadcasti128 ymm1, [v + 16] #= load 16 v+16 0x1f1e1d1c1b1a19181716151413121110
    vextracti128 [t], ymm0, 1     #= store 16 t 0x1f1e1d1c1b1a19181716151413121110
    vmovups ymm2, [mask]
    vmaskmovps ymm3, ymm2, [v]    #= load 4 v 0x03020100; load 4 v+8 0x0b0a0908; load 4 v+28 0x1f1e1d1c
    vmaskmovps [t], ymm2, ymm0    #= store 4 t 0x03020100; store 4 t+8 0x0b0a0908; store 4 t+28 0x1f1e1d1c
    vpmaskmovq xmm3, xmm2, [v]    #= -
    vpmaskmovd [t], xmm2, xmm0    #= store 4 t 0x03020100; store 4 t+8 0x0b0a0908
    vmovups xmm4, [index]
    vmovups xmm2, [mask]
    lea rax, v
    vpgatherdd xmm3, [rax + xmm4 * 4], xmm2 #= load 4 v+12 0x0f0e0d0c; load 4 v+4 0x07060504
    lea rdi, t
    movdqu xmm0, [v]
    movdqu xmm1, [v]
    pslld xmm1, 29
# Valgrind loads all of it, and stores it again with the chosen bytes changed.
    maskmovdqu xmm0, xmm1         #= load 16 t *; store 16 t *
    vpxor xmm4, xmm4, xmm4
    vpand ymm5, ymm4, [v]         #= load 32 v 0x1f1e1d1c1b1a191817161514131211100f0e0d0c0b0a09080706050403020100
    xor r9d, r9d
    vandps xmm5, xmm4, [rax + r9 * 2] #= load 16 v 0x0f0e0d0c0b0a09080706050403020100
    mov rcx, -1
    andn rdx, rcx, [v]            #= load 8 v 0x0706050403020100
    xor ecx, ecx
    bextr rdx, [v], rcx           #= load 8 v 0x0706050403020100
    bzhi edx, [v], ecx            #= load 4 v 0x03020100
    vmovups ymm2, [mask]
    vpxor xmm4, xmm4, xmm4
    vpgatherqq ymm3, [rax + ymm4 * 8 + 8], ymm2 #= load 8 v+8 0x0f0e0d0c0b0a0908
# What is saved, and where, is what the processor's manual says; Valgrind does it in parts.
    fxsave [area]
    fxrstor [area]
    mov eax, 3
    xor edx, edx
    xsave [area]
    xrstor [area]
    mov eax, 231
    xor edi, edi
    syscall
    .data
    .balign 4
csr: .long 0x1f80
