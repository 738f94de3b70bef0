/* SPDX-License-Identifier: MIT */
/* Arrays of every size of number, signed and not: prints each access, `load|store SIZE ADDRESS
 * VALUE` with the value as a number in hex, and first the range of memory it is about. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { COUNT = 6 };

static struct {
    volatile int8_t s1[COUNT];
    volatile uint8_t u1[COUNT];
    volatile int16_t s2[COUNT];
    volatile uint16_t u2[COUNT];
    volatile int32_t s4[COUNT];
    volatile uint32_t u4[COUNT];
    volatile int64_t s8[COUNT];
    volatile uint64_t u8[COUNT];
    volatile float f4[COUNT];
    volatile double f8[COUNT];
} all;

static struct {
    const char *kind;
    unsigned size;
    const volatile void *at;
    uint64_t value;
} done[1000];
static unsigned count;

static void note(const char *kind, unsigned size, const volatile void *at, const void *value)
{
    done[count].kind = kind;
    done[count].size = size;
    done[count].at = at;
    memcpy(&done[count].value, value, size);
    count++;
}

#define VISIT(type, name)                                                                          \
    for (unsigned i = 0; i < COUNT; i++) {                                                         \
        type v = (type)((i % 2 ? -1 : 1) * (int)(i * 37 + 1));                                     \
        all.name[i] = v;                                                                           \
        note("store", sizeof(v), &all.name[i], &v);                                                \
        v = all.name[i];                                                                           \
        note("load", sizeof(v), &all.name[i], &v);                                                 \
    }

int main(void)
{
    VISIT(int8_t, s1)
    VISIT(uint8_t, u1)
    VISIT(int16_t, s2)
    VISIT(uint16_t, u2)
    VISIT(int32_t, s4)
    VISIT(uint32_t, u4)
    VISIT(int64_t, s8)
    VISIT(uint64_t, u8)
    VISIT(float, f4)
    VISIT(double, f8)
    printf("%#" PRIxPTR "-%#" PRIxPTR "\n", (uintptr_t)&all, (uintptr_t)(&all + 1) - 1);
    for (unsigned i = 0; i < count; i++)
        printf("%s %u %#" PRIxPTR " 0x%0*" PRIx64 "\n", done[i].kind, done[i].size,
               (uintptr_t)done[i].at, (int)(2 * done[i].size), done[i].value);
    return 0;
}
