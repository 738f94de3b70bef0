/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a run says about where it was recorded: a replay computes with the same Valgrind, and with a
 * processor that offers the same. */
#include "config.h"
#include "tool.h"
#include "vestige/version.h"

/* In Valgrind's core, whose headers Debian does not install. */
extern void VG_(machine_get_VexArchInfo)(VexArch *arch, VexArchInfo *info);

static UInt append(HChar *to, UInt used, UInt capacity, const HChar *text)
{
    while (*text && used + 1 < capacity)
        to[used++] = *text++;
    to[used] = 0;
    return used;
}

static void cpuid(UInt leaf, UInt regs[4])
{
    __asm__ volatile("cpuid"
                     : "=a"(regs[0]), "=b"(regs[1]), "=c"(regs[2]), "=d"(regs[3])
                     : "0"(leaf), "2"(0));
}

/* The processor's vendor and name, and by which numbers it is known. */
static void describe_processor(HChar *to, UInt capacity)
{
    union {
        UInt regs[3][4];
        HChar text[49];
    } name = {.text = ""};
    HChar vendor[13] = "", numbers[64];
    UInt regs[4], family, model, most, used;
    const HChar *at = name.text;

    cpuid(0, regs);
    VG_(memcpy)(vendor, &regs[1], 4);
    VG_(memcpy)(vendor + 4, &regs[3], 4);
    VG_(memcpy)(vendor + 8, &regs[2], 4);
    cpuid(1, regs);
    family = regs[0] >> 8 & 15;
    model = (regs[0] >> 4 & 15) | (family == 6 || family == 15 ? regs[0] >> 12 & 0xf0 : 0);
    family += family == 15 ? regs[0] >> 20 & 255 : 0;
    VG_(sprintf)(numbers, " family %u model %u stepping %u", family, model, regs[0] & 15);
    cpuid(0x80000000, regs);
    most = regs[0];
    for (UInt i = 0; i < 3 && most >= 0x80000004; i++)
        cpuid(0x80000002 + i, name.regs[i]);
    while (*at == ' ')
        at++;
    used = append(to, 0, capacity, vendor);
    used = append(to, used, capacity, numbers);
    if (*at)
        used = append(to, used, capacity, ": ");
    used = append(to, used, capacity, at);
    while (used && to[used - 1] == ' ')
        to[--used] = 0;
}

/* What the program may use, as the processor that replays the run must offer it. */
static void describe_offer(HChar *to, UInt capacity)
{
    static const struct {
        UInt bit;
        const HChar *word;
    } words[] = {
        {VEX_HWCAPS_AMD64_SSE3, "sse3"},     {VEX_HWCAPS_AMD64_SSSE3, "ssse3"},
        {VEX_HWCAPS_AMD64_CX16, "cx16"},     {VEX_HWCAPS_AMD64_LZCNT, "lzcnt"},
        {VEX_HWCAPS_AMD64_AVX, "avx"},       {VEX_HWCAPS_AMD64_RDTSCP, "rdtscp"},
        {VEX_HWCAPS_AMD64_BMI, "bmi"},       {VEX_HWCAPS_AMD64_AVX2, "avx2"},
        {VEX_HWCAPS_AMD64_RDRAND, "rdrand"}, {VEX_HWCAPS_AMD64_F16C, "f16c"},
        {VEX_HWCAPS_AMD64_RDSEED, "rdseed"},
    };
    VexArch arch;
    VexArchInfo info;
    UInt used = 0;

    VG_(machine_get_VexArchInfo)(&arch, &info);
    to[0] = 0;
    for (UInt i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (info.hwcaps & words[i].bit) {
            used = append(to, used, capacity, used ? " " : "");
            used = append(to, used, capacity, words[i].word);
        }
}

void facts_fill(struct wire_hello *hello)
{
    VG_(memset)(hello, 0, sizeof(*hello));
    append(hello->valgrind, 0, sizeof(hello->valgrind), PACKAGE_VERSION);
    VG_(sprintf)(hello->tool, "%d.%d.%d", VS_VERSION_MAJOR, VS_VERSION_MINOR, VS_VERSION_PATCH);
    describe_processor(hello->processor, sizeof(hello->processor));
    describe_offer(hello->offered, sizeof(hello->offered));
}
