# SPDX-License-Identifier: MIT
# Memory operands of every size and kind but vectors and strings.
    .intel_syntax noprefix
# needs rdrand movbe rdtscp
    .globl _start
    .data
    .balign 4096
page: .skip 4096 - 3
crossing: .quad 0x8877665544332211
    .balign 64
m: .quad 0x1122334455667788
n: .quad 0x99aabbccddeeff00
pair: .quad 1, 2
f80: .byte 1, 2, 3, 4, 5, 6, 7, 0x88, 0xff, 0x3f
    .balign 16
f64: .double 1.5
f32: .float 2.5
control: .word 0x37f
bits: .quad 0, 0
ten: .skip 16
where: .quad done_call
    .bss
    .balign 4096
    .skip 8192
stack:
    .text
_start:
    lea rsp, stack
# plain loads and stores
    mov al, [m]                   #= load 1 m 0x88
    mov ax, [m + 1]               #= load 2 m+1 0x6677
    mov eax, [m]                  #= load 4 m 0x55667788
    mov rax, [m]                  #= load 8 m 0x1122334455667788
    movsx eax, byte ptr [n + 1]   #= load 1 n+1 0xff
    movzx eax, byte ptr [n + 1]   #= load 1 n+1 0xff
    movsx rax, word ptr [n]       #= load 2 n 0xff00
    movsxd rax, dword ptr [n]     #= load 4 n 0xddeeff00
    mov rax, [crossing]           #= load 8 crossing 0x8877665544332211
    mov [crossing], rax           #= store 8 crossing 0x8877665544332211
    movabs al, [m]                #= load 1 m 0x88
    movabs [m], eax               #= store 4 m 0x44332288
    mov byte ptr [m], 0x5a        #= store 1 m 0x5a
    mov word ptr [m], 0x1234      #= store 2 m 0x1234
    mov dword ptr [m], -2         #= store 4 m 0xfffffffe
    mov qword ptr [m], -3         #= store 8 m 0xfffffffffffffffd
    movbe eax, [m]                #= load 4 m 0xfffffffd
    movbe [m], rax                #= store 8 m 0xfffffffd00000000
    movnti [m], rax               #= store 8 m 0xfdffffff
    mov eax, 0xfffffffd
    mov [m], rax                  #= store 8 m 0xfffffffd
# What is loaded is not used.
    mov eax, [m]                  #= load 4 m 0xfffffffd
    mov eax, 5
    cmp eax, [m]                  #= load 4 m 0xfffffffd
    test [m], rax                 #= load 8 m 0xfffffffd
    xor eax, eax
    and dword ptr [n], 0          #= load 4 n 0xddeeff00; store 4 n 0
    or dword ptr [n], -1          #= load 4 n 0; store 4 n 0xffffffff
    and byte ptr [n], 0           #= load 1 n 0xff; store 1 n 0
    or word ptr [n], -1           #= load 2 n 0xff00; store 2 n 0xffff
    and qword ptr [n], 0          #= load 8 n 0x99aabbccffffffff; store 8 n 0
    or qword ptr [n], -1          #= load 8 n 0; store 8 n 0xffffffffffffffff
    xor ecx, ecx
    and [n], ecx                  #= load 4 n 0xffffffff; store 4 n 0
    imul eax, [m], 0              #= load 4 m 0xfffffffd
    xor eax, eax
    and eax, [m]                  #= load 4 m 0xfffffffd
    and [rbx * 4 + m], eax        #= load 4 m 0xfffffffd; store 4 m 0
    mov eax, 0xfffffffd
    mov [m], eax
    lea rdx, m - 0x1000
    or rax, -1
    or al, [rdx + 0x1000]         #= load 1 m 0xfd
    test dword ptr [rip + m], 0   #= load 4 m 0xfffffffd
    xor eax, eax
    cmovne rcx, [rdx + rax * 8 + 0x1000] #= load 8 m 0xfffffffd
    cmp eax, eax
    cmovne rax, [m]               #= load 8 m 0xfffffffd
    cmove ax, [m]                 #= load 2 m 0xfffd
    prefetcht0 [m]                #= -
    nop dword ptr [m]             #= -
    lea rax, [m]                  #= -
# read-modify-write
    mov ecx, 0xfffffffd
    mov [m], rcx
    mov rax, 3
    add qword ptr [m], 5          #= load 8 m 0xfffffffd; store 8 m 0x100000002
    adc byte ptr [m], 1           #= load 1 m 2; store 1 m 3
    sub word ptr [m], 4           #= load 2 m 3; store 2 m 0xffff
    sbb dword ptr [m], 0          #= load 4 m 0xffff; store 4 m 0xfffe
    xor [m], rax                  #= load 8 m 0x10000fffe; store 8 m 0x10000fffd
    inc byte ptr [m]              #= load 1 m 0xfd; store 1 m 0xfe
    dec word ptr [m]              #= load 2 m 0xfffe; store 2 m 0xfffd
    not dword ptr [m]             #= load 4 m 0xfffd; store 4 m 0xffff0002
    neg qword ptr [m]             #= load 8 m 0x1ffff0002; store 8 m 0xfffffffe0000fffe
    shl byte ptr [m], 1           #= load 1 m 0xfe; store 1 m 0xfc
    mov ecx, 4
    shr word ptr [m], cl          #= load 2 m 0xfffc; store 2 m 0x0fff
    rol dword ptr [m], 8          #= load 4 m 0x00000fff; store 4 m 0x000fff00
    shld [m], rax, 4              #= load 8 m 0xfffffffe000fff00; store 8 m 0xffffffe000fff000
    xadd [m], al                  #= load 1 m 0; store 1 m 3
    sete byte ptr [m + 7]         #= store 1 m+7 0
    mul word ptr [m]              #= load 2 m 0xf003
    mov dword ptr [m], 2
    xor edx, edx
    mov eax, 7
    div dword ptr [m]             #= load 4 m 2
# bits
    bt dword ptr [bits], 3        #= load 4 bits 0
    bts word ptr [bits], 9        #= load 2 bits 0; store 2 bits 0x200
    btr dword ptr [bits], 9       #= load 4 bits 0x200; store 4 bits 0
    btc qword ptr [bits], 63      #= load 8 bits 0; store 8 bits 0x8000000000000000
# With the number in a register Valgrind accesses one byte, as processors may.
    mov eax, 70
    bt [bits], eax                #= load 1 bits+8 0
    bts [bits], eax               #= load 1 bits+8 0; store 1 bits+8 0x40
    btr [bits], rax               #= load 1 bits+8 0x40; store 1 bits+8 0
    lock bts [bits], rax          #= load 1 bits+8 0 atomic; store 1 bits+8 0x40 atomic
    lock btr word ptr [bits], 15  #= load 2 bits 0 atomic; store 2 bits 0 atomic
    lock btc dword ptr [bits], 1  #= load 4 bits 0 atomic; store 4 bits 2 atomic
    mov edx, 3
    bt eax, edx                   #= -
    bts rax, rdx                  #= -
    btr ax, dx                    #= -
    btc eax, edx                  #= -
    cmp rax, 78
    jne bad
# stack
    push rax                      #= store 8 stack-8 0x4e
    push -1                       #= store 8 stack-16 0xffffffffffffffff
    push [m]                      #= load 8 m 0xffffe000000002; store 8 stack-24 0xffffe000000002
    pop [n]                       #= load 8 stack-24 0xffffe000000002; store 8 n 0xffffe000000002
    push ax                       #= store 2 stack-18 0x4e
    pop dx                        #= load 2 stack-18 0x4e
    pop rdx                       #= load 8 stack-16 0xffffffffffffffff
    cmp eax, eax
    pushfq                        #= store 8 stack-16 *
    popfq                         #= load 8 stack-16 *
    mov ebp, 0x1234
    enter 16, 0                   #= store 8 stack-16 0x1234
    leave                         #= load 8 stack-16 0x1234
    pop rsp                       #= load 8 stack-8 0x4e
    lea rsp, stack
    call [where]                  #= load 8 where done_call; store 8 stack-8 back; branch icall taken done_call
back:
    ud2
done_call:
# lock; that the next load finds what was stored, `check --memory` compares
    mov rax, 0x10
    mov qword ptr [m], 0
%each op,k add,5 or,0x31 and,0x1c sub,0x12 xor,6
    mov ebx, {k}
    lock {op} [m], bl             #= load 1 m * atomic; store 1 m * atomic
    lock {op} [m], bx             #= load 2 m * atomic; store 2 m * atomic
    lock {op} [m], ebx            #= load 4 m * atomic; store 4 m * atomic
    lock {op} [m], rbx            #= load 8 m * atomic; store 8 m * atomic
    lock {op} byte ptr [m], {k}   #= load 1 m * atomic; store 1 m * atomic
    lock {op} word ptr [m], {k}   #= load 2 m * atomic; store 2 m * atomic
    lock {op} dword ptr [m], {k}  #= load 4 m * atomic; store 4 m * atomic
    lock {op} qword ptr [m], {k}  #= load 8 m * atomic; store 8 m * atomic
%end
    mov qword ptr [m], 0x7f
    lock adc byte ptr [m], 1      #= load 1 m 0x7f atomic; store 1 m * atomic
    mov qword ptr [m], 0x7f
    cmp eax, eax
    lock sbb word ptr [m], 1      #= load 2 m 0x7f atomic; store 2 m 0x7e atomic
    lock inc byte ptr [m]         #= load 1 m 0x7e atomic; store 1 m 0x7f atomic
    lock inc word ptr [m]         #= load 2 m 0x7f atomic; store 2 m 0x80 atomic
    lock dec dword ptr [m]        #= load 4 m 0x80 atomic; store 4 m 0x7f atomic
    lock dec qword ptr [m]        #= load 8 m 0x7f atomic; store 8 m 0x7e atomic
    lock not byte ptr [m]         #= load 1 m 0x7e atomic; store 1 m 0x81 atomic
    lock neg dword ptr [m]        #= load 4 m 0x81 atomic; store 4 m 0xffffff7f atomic
    lock and dword ptr [m], 0     #= load 4 m 0xffffff7f atomic; store 4 m 0 atomic
    lock or qword ptr [m], -1     #= load 8 m 0 atomic; store 8 m 0xffffffffffffffff atomic
    lock or dword ptr [rsp - 8], 0 #= load 4 stack-16 * atomic; store 4 stack-16 * atomic
    mov eax, 3
    lock xadd [m], al             #= load 1 m 0xff atomic; store 1 m 2 atomic
    lock xadd [m], ax             #= load 2 m 0xff02 atomic; store 2 m 1 atomic
    lock xadd [m], eax            #= load 4 m 0xffff0001 atomic; store 4 m 0xffffff03 atomic
    lock xadd [m], rax            #= load 8 m 0xffffffffffffff03 atomic; store 8 m 0xfffeff04 atomic
    mov eax, 0x10203040
    xchg [m], al                  #= load 1 m 0x04 atomic; store 1 m 0x40 atomic
    xchg [m], ax                  #= load 2 m 0xff40 atomic; store 2 m 0x3004 atomic
    xchg [m], eax                 #= load 4 m 0xfffe3004 atomic; store 4 m 0x1020ff40 atomic
    xchg [m], rax                 #= load 8 m 0x1020ff40 atomic; store 8 m 0xfffe3004 atomic
    mov qword ptr [m], 0x44
    mov eax, 0x44
    mov ecx, 0x55
    cmpxchg [m], cl               #= load 1 m 0x44; store 1 m 0x55
    cmpxchg [m], cl               #= load 1 m 0x55; store 1 m 0x55
    mov ecx, 0x66
    lock cmpxchg [m], cx          #= load 2 m 0x55 atomic; store 2 m 0x66 atomic
    lock cmpxchg [m], ecx         #= load 4 m 0x66 atomic; store 4 m 0x66 atomic
    lock cmpxchg [m], rcx         #= load 8 m 0x66 atomic; store 8 m 0x66 atomic
    mov eax, 1
    lock cmpxchg [m], rdi         #= load 8 m 0x66 atomic; store 8 m 0x66 atomic
    mov ebx, 7
    mov ecx, 8
    mov eax, 1
    xor edx, edx
    lock cmpxchg8b [pair]         #= load 8 pair 1 atomic; store 8 pair 0x0000000800000007 atomic
    cmpxchg8b [pair]              #= load 8 pair 0x0000000800000007; store 8 pair 0x0000000800000007
    mov edx, 2
    lock cmpxchg16b [pair]        #= load 16 pair 0x20000000800000007 atomic; store 16 pair 0x20000000800000007 atomic
    lock cmpxchg16b [pair]        #= load 16 pair 0x20000000800000007 atomic; store 16 pair 0x80000000000000007 atomic
    cmpxchg16b [pair]             #= load 16 pair 0x80000000000000007; store 16 pair 0x80000000000000007
# x87
    fninit
    fldcw [control]               #= load 2 control 0x37f
    fnstcw [ten]                  #= store 2 ten 0x37f
    fld tbyte ptr [f80]           #= load 10 f80 0x3fff8807060504030201
    fstp tbyte ptr [ten]          #= store 10 ten 0x3fff8807060504030000
    fld qword ptr [f64]           #= load 8 f64 0x3ff8000000000000
    fadd dword ptr [f32]          #= load 4 f32 0x40200000
    fist dword ptr [ten]          #= store 4 ten 4
    fistp word ptr [ten]          #= store 2 ten 4
    fild qword ptr [pair]         #= load 8 pair 7
    fistp qword ptr [ten]         #= store 8 ten 7
    fld1
    fst dword ptr [ten]           #= store 4 ten 0x3f800000
    fstp qword ptr [ten]          #= store 8 ten 0x3ff0000000000000
# from outside
    rdtsc                         #= nondet 8
    rdtscp                        #= nondet 24
    xor eax, eax
    cpuid                         #= nondet 32
    xor ecx, ecx
    xgetbv                        #= nondet 8
    and eax, 6
    rdrand rax                    #= nondet 8; nondet 8
    rdrand ecx                    #= nondet 8
    mov eax, 231
    xor edi, edi
    syscall
bad:
    ud2
