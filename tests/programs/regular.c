/* SPDX-License-Identifier: MIT */
/* Does the same whenever it runs, and little else than compute: a list is sorted, and strings are
 * made of it. */
#include <string.h>

static unsigned long numbers[300];
static char text[4096];

static __attribute__((noinline, noclone)) void fill(unsigned long seed)
{
    for (unsigned i = 0; i < 300; i++)
        numbers[i] = (seed = seed * 6364136223846793005u + 1442695040888963407u) >> 33;
}

static __attribute__((noinline, noclone)) void arrange(void)
{
    for (unsigned i = 1; i < 300; i++)
        for (unsigned k = i; k && numbers[k - 1] > numbers[k]; k--) {
            unsigned long more = numbers[k - 1];

            numbers[k - 1] = numbers[k];
            numbers[k] = more;
        }
}

static __attribute__((noinline, noclone)) void spell(void)
{
    char *to = text;

    for (unsigned i = 0; i < 100; i++) {
        void *from = text + i;
        unsigned long count = 8;

        __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
        to -= 4;
        *to++ = (char)('a' + numbers[i] % 26);
    }
}

int main(void)
{
    for (unsigned i = 0; i < 8; i++) {
        fill(i);
        arrange();
        spell();
    }
    return text[0] == 1;
}
