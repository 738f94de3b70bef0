/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a run says about how it was recorded: a replay computes with the same Valgrind, and with a
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
    describe_offer(hello->offered, sizeof(hello->offered));
}
