/* SPDX-License-Identifier: MIT */
/* Floating point by integers: binary32 and binary64 as RISC-V defines them, in every rounding mode,
 * with exact exception flags. A NaN result is always the canonical one. Tininess is detected after
 * rounding.
 *
 * Values are bit patterns. A binary32 is in the lower half of the word; the upper half is ignored
 * in operands and zero in results. rm is VS_RV64_RNE to VS_RV64_RMM. Flags are added to *flags. */
#ifndef ISA_RV64_SOFTFLOAT_H
#define ISA_RV64_SOFTFLOAT_H

#include <stdbool.h>
#include <stdint.h>

/* Flags, as in fflags. */
enum {
    VS_FP_NX = 1,  /* inexact */
    VS_FP_UF = 2,  /* underflow */
    VS_FP_OF = 4,  /* overflow */
    VS_FP_DZ = 8,  /* division by zero */
    VS_FP_NV = 16, /* invalid */
};

#define VS_FP32_NAN UINT64_C(0x7fc00000)
#define VS_FP64_NAN UINT64_C(0x7ff8000000000000)

struct vs_fp_format {
    unsigned fraction; /* bits of the fraction field */
    unsigned exponent; /* bits of the exponent field */
};

extern const struct vs_fp_format vs_fp32, vs_fp64;

/* Returns a * b + c, rounded once. */
uint64_t vs_fp_fma(const struct vs_fp_format *f, uint64_t a, uint64_t b, uint64_t c, unsigned rm,
                   unsigned *flags);
uint64_t vs_fp_add(const struct vs_fp_format *f, uint64_t a, uint64_t b, unsigned rm,
                   unsigned *flags);
uint64_t vs_fp_sub(const struct vs_fp_format *f, uint64_t a, uint64_t b, unsigned rm,
                   unsigned *flags);
uint64_t vs_fp_mul(const struct vs_fp_format *f, uint64_t a, uint64_t b, unsigned rm,
                   unsigned *flags);
uint64_t vs_fp_div(const struct vs_fp_format *f, uint64_t a, uint64_t b, unsigned rm,
                   unsigned *flags);
uint64_t vs_fp_sqrt(const struct vs_fp_format *f, uint64_t a, unsigned rm, unsigned *flags);

/* These are minimumNumber and maximumNumber of IEEE 754-2019. */
uint64_t vs_fp_min(const struct vs_fp_format *f, uint64_t a, uint64_t b, unsigned *flags);
uint64_t vs_fp_max(const struct vs_fp_format *f, uint64_t a, uint64_t b, unsigned *flags);

/* eq is quiet; lt and le signal. */
bool vs_fp_eq(const struct vs_fp_format *f, uint64_t a, uint64_t b, unsigned *flags);
bool vs_fp_lt(const struct vs_fp_format *f, uint64_t a, uint64_t b, unsigned *flags);
bool vs_fp_le(const struct vs_fp_format *f, uint64_t a, uint64_t b, unsigned *flags);

/* Returns the mask that fclass gives. */
uint64_t vs_fp_class(const struct vs_fp_format *f, uint64_t a);

/* Converts from one format to another. */
uint64_t vs_fp_convert(const struct vs_fp_format *from, const struct vs_fp_format *to, uint64_t a,
                       unsigned rm, unsigned *flags);

/* Converts to an integer of 32 or 64 bits, saturating; a NaN becomes the largest. A result of 32
 * bits is sign-extended, even that of an unsigned conversion. */
uint64_t vs_fp_to_int(const struct vs_fp_format *f, uint64_t a, unsigned width, bool is_signed,
                      unsigned rm, unsigned *flags);

/* Converts from an integer of 64 bits; narrower ones have to be extended first. */
uint64_t vs_fp_from_int(const struct vs_fp_format *f, uint64_t a, bool is_signed, unsigned rm,
                        unsigned *flags);

#endif
