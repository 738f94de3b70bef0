# SPDX-License-Identifier: MIT
# String instructions of all sizes (Valgrind refuses rep lods, repne cmps, and cmps alone): alone; repeated 0, 1, 3 times; backwards; ended by a comparison; across a page.
    .intel_syntax noprefix
    .globl _start
    .data
    .balign 4096
from: .quad 0x0807060504030201, 0x100f0e0d0c0b0a09, 0x1817161514131211, 0x201f1e1d1c1b1a19
same: .quad 0x0807060504030201, 0x100f0e0d0c0b0a09, 0x1817161514131299, 0
    .balign 4096
    .skip 4096 - 3
edge: .quad 0, 0
    .balign 64
to: .skip 64
    .text
_start:
%each s,z,y,a,b,c b,1,2,0x01,0x02,0x03 w,2,4,0x0201,0x0403,0x0605 d,4,8,0x04030201,0x08070605,0x0c0b0a09 q,8,16,0x0807060504030201,0x100f0e0d0c0b0a09,0x1817161514131211
    cld
    lea rsi, from
    lea rdi, to
    movs{s}                       #= load {z} from {a}; store {z} to {a}
    xor ecx, ecx
    rep movs{s}                   #= -
    mov ecx, 1
    rep movs{s}                   #= load {z} from+{z} {b}; store {z} to+{z} {b}
    lea rsi, from
    lea rdi, to
    mov ecx, 3
    nop
    rep movs{s}                   #= load {z} from {a}; store {z} to {a}; load {z} from+{z} {b} repeat; store {z} to+{z} {b} repeat; load {z} from+{y} {c} repeat; store {z} to+{y} {c} repeat
    std
    lea rsi, from + {z}
    lea rdi, to + {z}
    mov ecx, 2
    rep movs{s}                   #= load {z} from+{z} {b}; store {z} to+{z} {b}; load {z} from {a} repeat; store {z} to {a} repeat
    cld
    mov rax, 0x0807060504030201
    lea rdi, to
    stos{s}                       #= store {z} to {a}
    xor ecx, ecx
    rep stos{s}                   #= -
    mov ecx, 2
    rep stos{s}                   #= store {z} to+{z} {a}; store {z} to+{y} {a} repeat
    lea rsi, from
    lods{s}                       #= load {z} from {a}
    lea rsi, from
    lea rdi, same
    xor ecx, ecx
    repe cmps{s}                  #= -
    mov ecx, 2
    lea rsi, from
    lea rdi, same
    repe cmps{s}                  #= load {z} same {a}; load {z} from {a}; load {z} same+{z} {b} repeat; load {z} from+{z} {b} repeat
    lea rsi, from
    lea rdi, same
    mov ecx, 5
    lea rdi, from
    mov rax, 0x0807060504030201
    scas{s}                       #= load {z} from {a}
    mov ecx, 9
    repe scas{s}                  #= load {z} from+{z} {b}
    lea rdi, from
    mov ecx, 9
    mov rax, {c}
    repne scas{s}                 #= load {z} from {a}; load {z} from+{z} {b} repeat; load {z} from+{y} {c} repeat
    cmp ecx, 6
    jne bad
    lea rdi, from
    xor ecx, ecx
    repne scas{s}                 #= -
%end
    lea rsi, from
    lea rdi, edge
    mov ecx, 2
    rep movsq                     #= load 8 from 0x0807060504030201; store 8 edge 0x0807060504030201; load 8 from+8 0x100f0e0d0c0b0a09 repeat; store 8 edge+8 0x100f0e0d0c0b0a09 repeat
# a repetition after a repetition, and twice the same instruction
    mov ebx, 2
    lea rsi, from
    lea rdi, to
again:
    mov ecx, 2
    rep movsb                     #= load 1 from 1; store 1 to 1; load 1 from+1 2 repeat; store 1 to+1 2 repeat; load 1 from+2 3; store 1 to+2 3; load 1 from+3 4 repeat; store 1 to+3 4 repeat
    mov ecx, 1
    rep stosb
    dec rdi
    dec ebx
    jne again                     #= branch cond taken again; branch cond not again
    mov rcx, 0x100000000
    addr32 rep movsb              #= -
    mov eax, 231
    xor edi, edi
    syscall
bad:
    ud2
