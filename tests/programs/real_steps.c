/* SPDX-License-Identifier: MIT */
/* Does the same every time, to the last instruction: there is no C library below it. Has branches,
 * calls, repeated instructions and system calls. Compiled with -static -nostdlib. */
enum { COUNT = 100 };

static int numbers[COUNT], copy[COUNT];
static unsigned seed = 12345;

static long call(long number, long a, const void *b, long c)
{
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c)
                     : "rcx", "r11", "memory");
    return result;
}

static void copy_bytes(void *to, const void *from, unsigned long n)
{
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

__attribute__((noinline)) void shuffle(void)
{
    for (int i = 0; i < COUNT; i++) {
        seed = seed * 1664525 + 1013904223;
        numbers[i] = (int)(seed >> 8);
    }
}

__attribute__((noinline)) void sort(int *a, int n)
{
    for (int i = 1; i < n; i++)
        for (int k = i; k > 0 && a[k - 1] > a[k]; k--) {
            int swap = a[k];

            a[k] = a[k - 1];
            a[k - 1] = swap;
        }
}

__attribute__((noinline)) int sum(const int *a, int n)
{
    int s = 0;

    for (int i = 0; i < n; i++)
        s += a[i];
    return s;
}

void start(void);
void start(void)
{
    int total = 0;

    for (int round = 0; round < 5; round++) {
        shuffle();
        sort(numbers, COUNT);
        copy_bytes(copy, numbers, sizeof(copy));
        total += sum(copy, COUNT);
        call(1, 1, "round\n", 6);
    }
    call(60, total & 0x3f, 0, 0);
    __builtin_unreachable();
}

__asm__(".globl _start\n_start: xor %ebp, %ebp\n and $-16, %rsp\n call start\n");
