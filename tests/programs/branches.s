# SPDX-License-Identifier: MIT
# Every branch of x86-64: not taken, then taken; short and near; to the next instruction.
    .intel_syntax noprefix
    .globl _start
    .data
word: .quad 0
table: .quad by_table
routine: .quad callee3
    .bss
    .balign 16
    .skip 4096
stack:
    .text
_start:
    lea rsp, stack
%each cc,f,t o,0,0x800 no,0x800,0 b,0,1 ae,1,0 e,0,0x40 ne,0x40,0 be,0,0x41 a,1,0 s,0,0x80 ns,0x80,0 p,0,4 np,4,0 l,0,0x80 ge,0x800,0x880 le,0x880,0x40 g,0x40,0
    push {f}
    popfq
    j{cc} bad                     #= branch cond not bad
    push {f}
    popfq
    j{cc} near{n}_1               #= branch cond not near{n}_1
near{n}_1:
    push {t}
    popfq
    j{cc} near{n}_1_end           #= branch cond taken near{n}_1_end
    ud2
near{n}_1_end:
    push {t}
    popfq
    {disp32} j{cc} near{n}_2      #= branch cond taken near{n}_2
near{n}_2:
    push {f}
    popfq
    {disp32} j{cc} near{n}_3      #= branch cond not near{n}_3
near{n}_3:
    push {t}
    popfq
    .byte 0x3e
hint{n}: j{cc} near{n}_4
near{n}_4:
    push {f}
    popfq
    j{cc} bad
%end
# The condition is known when the code is translated.
    xor eax, eax
    je known1                     #= branch cond taken known1
known1:
    xor eax, eax
    jne known2                    #= branch cond not known2
known2:
    xor eax, eax
    {disp32} jne known3           #= branch cond not known3
known3:
    xor eax, eax
    {disp32} je known4            #= branch cond taken known4
known4:
    xor ecx, ecx
    jrcxz known5                  #= branch cond taken known5
known5:
    mov ecx, 1
    loop known6                   #= branch cond not known6
known6:
    mov ecx, 2
    loop known7                   #= branch cond taken known7
known7:
    xor eax, eax
    jne bad                       #= branch cond not bad
    je known8                     #= branch cond taken known8
    ud2
known8:
    mov ecx, 1
    jrcxz rcx1                    #= branch cond not rcx1
    xor ecx, ecx
    jrcxz rcx1                    #= branch cond taken rcx1
    ud2
rcx1:
    mov rcx, 0x100000000
    jrcxz rcx2                    #= branch cond not rcx2
    jecxz rcx2                    #= branch cond taken rcx2
    ud2
rcx2:
    jecxz rcx3                    #= branch cond taken rcx3
rcx3:
    mov ecx, 1
    loop loop1                    #= branch cond not loop1
    mov ecx, 3
    loop loop1                    #= branch cond taken loop1
    ud2
loop1:
    cmp eax, eax
    loopne loop2                  #= branch cond not loop2
    mov ecx, 5
    test rsp, rsp
    loopne loop2                  #= branch cond taken loop2
    ud2
loop2:
    loope loop3                   #= branch cond not loop3
    cmp eax, eax
    loope loop3                   #= branch cond taken loop3
    ud2
loop3:
    mov ecx, 1
    cmp eax, eax
    loope bad                     #= branch cond not bad
    mov ecx, 3
self: loop self                   #= branch cond taken self; branch cond taken self; branch cond not self
    jmp jump1                     #= branch jump taken jump1
    ud2
jump1:
    {disp32} jmp jump2            #= branch jump taken jump2
jump2:
    lea rax, jump3
    jmp rax                       #= branch ijump taken jump3
    ud2
jump3:
    jmp [table]                   #= load 8 table by_table; branch ijump taken by_table
    ud2
by_table:
    call callee1                  #= store 8 stack-8 after1; branch call taken callee1
after1:
    call next                     #= store 8 stack-8 next; branch call taken next
next:
    pop rax                       #= load 8 stack-8 next
    lea rax, callee2
    push 0x77                     #= store 8 stack-8 0x77
    call rax                      #= store 8 stack-16 after2; branch icall taken callee2
after2:
    call [routine]                #= load 8 routine callee3; store 8 stack-8 after3; branch icall taken callee3
after3:
    lea rax, [rsp - 8]
    mov qword ptr [rax], 0
    lea rax, last
    push rax
    ret                           #= load 8 stack-8 last; branch ret taken last
    ud2
bad:
    ud2
callee1:
    ret                           #= load 8 stack-8 after1; branch ret taken after1
callee2:
    ret 8                         #= load 8 stack-16 after2; branch ret taken after2
callee3:
    rep ret                       #= load 8 stack-8 after3; branch ret taken after3
last:
    mov eax, 231
    xor edi, edi
    syscall
