/* SPDX-License-Identifier: MIT */
/* Functions that would replace and wrap others under Valgrind. */
#include <stdio.h>
#include <valgrind/valgrind.h>

int answer(void);
int question(int n);
int I_REPLACE_SONAME_FNNAME_ZU(NONE, answer)(void);
int I_WRAP_SONAME_FNNAME_ZU(NONE, question)(int n);

__attribute__((noinline)) int answer(void)
{
    __asm__ volatile("");
    return 42;
}

__attribute__((noinline)) int question(int n)
{
    __asm__ volatile("");
    return n + 1;
}

int I_REPLACE_SONAME_FNNAME_ZU(NONE, answer)(void)
{
    return 1;
}

int I_WRAP_SONAME_FNNAME_ZU(NONE, question)(int n)
{
    OrigFn function;
    int result;

    VALGRIND_GET_ORIG_FN(function);
    CALL_FN_W_W(result, function, n);
    return 100 * result;
}

int main(void)
{
    int sum = 0;

    for (int i = 0; i < 10; i++)
        sum += answer() + question(i);
    printf("%d\n", sum);
    return 0;
}
