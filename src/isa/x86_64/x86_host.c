/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "isa/x86_64/x86.h"

#if defined(__x86_64__)
#include <cpuid.h>

enum { EAX, EBX, ECX, EDX };

static void get(unsigned leaf, unsigned regs[4])
{
    __cpuid(leaf, regs[EAX], regs[EBX], regs[ECX], regs[EDX]);
}

void vs_x86_host(char text[VS_ISA_HOST_MAX])
{
    unsigned regs[4], name[3][4] = {{0}};
    char vendor[13] = "", words[sizeof(name) + 1] = "";
    get(0, regs);
    memcpy(vendor, &regs[EBX], 4);
    memcpy(vendor + 4, &regs[EDX], 4);
    memcpy(vendor + 8, &regs[ECX], 4);
    get(1, regs);
    unsigned version = regs[EAX], family = version >> 8 & 15, model = version >> 4 & 15;
    if (family == 6 || family == 15)
        model |= version >> 12 & 0xf0;
    if (family == 15)
        family += version >> 20 & 255;
    get(0x80000000, regs);
    for (unsigned i = 0; i < 3 && regs[EAX] >= 0x80000004; i++)
        get(0x80000002 + i, name[i]);
    memcpy(words, name, sizeof(name));
    const char *at = words + strspn(words, " ");
    snprintf(text, VS_ISA_HOST_MAX, "%s family %u model %u stepping %u%s%s", vendor, family, model,
             version & 15, *at ? ": " : "", at);
    for (size_t n = strlen(text); n && text[n - 1] == ' '; n--)
        text[n - 1] = 0;
}
#else
void vs_x86_host(char text[VS_ISA_HOST_MAX])
{
    text[0] = 0;
}
#endif
