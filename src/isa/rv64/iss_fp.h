/* SPDX-License-Identifier: MIT */
/* A hart's floating-point operations: by the host where it is exact, by softfloat elsewhere.
 *
 * When rounding to nearest even, the host's unit is exact: in results other than NaN, and in all
 * flags. While a hart runs, its flags since the last vs_fp_collect are in the host's status word.
 * They are collected before anything else may change the word or the program reads them: hence the
 * volatile statements, which the compiler keeps in order among themselves. */
#ifndef ISA_RV64_ISS_FP_H
#define ISA_RV64_ISS_FP_H

#include <string.h>

#include "base/likely.h"
#include "isa/rv64/hart.h"
#include "isa/rv64/softfloat.h"
#include "isa/rv64/rv64.h"

#define VS_FP_BOX UINT64_C(0xffffffff00000000)

static inline uint64_t vs_fp_box(uint64_t single)
{
    return single | VS_FP_BOX;
}

/* A value that is not boxed counts as the canonical NaN. */
static inline uint64_t vs_fp_unbox(uint64_t f)
{
    return f >= VS_FP_BOX ? f & 0xffffffff : VS_FP32_NAN;
}

static inline bool vs_fp_is_nan64(uint64_t v)
{
    return (v & INT64_MAX) > UINT64_C(0x7ff0000000000000);
}

static inline bool vs_fp_is_nan32(uint64_t v)
{
    return (v & INT32_MAX) > 0x7f800000;
}

static inline uint64_t vs_fp_canonical64(uint64_t v)
{
    return unlikely(vs_fp_is_nan64(v)) ? VS_FP64_NAN : v;
}

static inline uint64_t vs_fp_canonical32(uint64_t v)
{
    return unlikely(vs_fp_is_nan32(v)) ? VS_FP32_NAN : v;
}

#ifdef __x86_64__

#define VS_MXCSR_DEFAULT VS_CPU_STATUS

static inline uint32_t vs_mxcsr_get(void)
{
    uint32_t v;
    __asm__ volatile("stmxcsr %0" : "=m"(v));
    return v;
}

static inline void vs_mxcsr_set(uint32_t v)
{
    __asm__ volatile("ldmxcsr %0" : : "m"(v));
}

/* Returns the host's status word, which is the caller's and is restored at the end. The owner of an
 * integer memory has it at its default. */
static inline uint32_t vs_fp_begin(const struct vs_cpu_memory *memory)
{
    uint32_t saved = memory->integer ? VS_MXCSR_DEFAULT : vs_mxcsr_get();
    if (saved != VS_MXCSR_DEFAULT)
        vs_mxcsr_set(VS_MXCSR_DEFAULT);
    return saved;
}

static inline void vs_fp_collect(struct vs_hart *hart)
{
    uint32_t m = vs_mxcsr_get();
    if (m == VS_MXCSR_DEFAULT)
        return;
    hart->fcsr |= (m & 1) << 4 | (m & 4) << 1 | (m & 8) >> 1 | (m & 16) >> 3 | (m & 32) >> 5;
    vs_mxcsr_set(VS_MXCSR_DEFAULT);
}

/* Reading the word costs less than writing it. */
static inline void vs_fp_resume(void)
{
    if (vs_mxcsr_get() != VS_MXCSR_DEFAULT)
        vs_mxcsr_set(VS_MXCSR_DEFAULT);
}

static inline void vs_fp_end(struct vs_hart *hart, uint32_t saved)
{
    vs_fp_collect(hart);
    if (saved != VS_MXCSR_DEFAULT)
        vs_mxcsr_set(saved);
}

#define VS_HOST_BINARY(name, type, instruction)                                                    \
    static inline uint64_t name(uint64_t a, uint64_t b)                                            \
    {                                                                                              \
        type x, y;                                                                                 \
        uint64_t r = 0;                                                                            \
        memcpy(&x, &a, sizeof(x));                                                                 \
        memcpy(&y, &b, sizeof(y));                                                                 \
        __asm__ volatile(instruction " %1, %0" : "+x"(x) : "x"(y));                                \
        memcpy(&r, &x, sizeof(x));                                                                 \
        return r;                                                                                  \
    }
#define VS_HOST_UNARY(name, from, to, instruction)                                                 \
    static inline uint64_t name(uint64_t a)                                                        \
    {                                                                                              \
        from x;                                                                                    \
        to y;                                                                                      \
        uint64_t r = 0;                                                                            \
        memcpy(&x, &a, sizeof(x));                                                                 \
        __asm__ volatile(instruction " %1, %0" : "=x"(y) : "x"(x));                                \
        memcpy(&r, &y, sizeof(y));                                                                 \
        return r;                                                                                  \
    }
#define VS_HOST_TERNARY(name, type, instruction)                                                   \
    static inline uint64_t name(uint64_t a, uint64_t b, uint64_t c)                                \
    {                                                                                              \
        type x, y, z;                                                                              \
        uint64_t r = 0;                                                                            \
        memcpy(&x, &a, sizeof(x));                                                                 \
        memcpy(&y, &b, sizeof(y));                                                                 \
        memcpy(&z, &c, sizeof(z));                                                                 \
        __asm__ volatile(instruction " %2, %1, %0" : "+x"(x) : "x"(y), "x"(z));                    \
        memcpy(&r, &x, sizeof(x));                                                                 \
        return r;                                                                                  \
    }
#define VS_HOST_FROM_INT(name, type, instruction)                                                  \
    static inline uint64_t name(int64_t a)                                                         \
    {                                                                                              \
        type x = 0;                                                                                \
        uint64_t r = 0;                                                                            \
        __asm__ volatile(instruction " %1, %0" : "+x"(x) : "r"(a));                                \
        memcpy(&r, &x, sizeof(x));                                                                 \
        return r;                                                                                  \
    }
#define VS_HOST_TO_INT(name, type, int_type, instruction)                                          \
    static inline int_type name(uint64_t a)                                                        \
    {                                                                                              \
        type x;                                                                                    \
        int_type r;                                                                                \
        memcpy(&x, &a, sizeof(x));                                                                 \
        __asm__ volatile(instruction " %1, %0" : "=r"(r) : "x"(x));                                \
        return r;                                                                                  \
    }

VS_HOST_BINARY(vs_host_add32, float, "addss")
VS_HOST_BINARY(vs_host_sub32, float, "subss")
VS_HOST_BINARY(vs_host_mul32, float, "mulss")
VS_HOST_BINARY(vs_host_div32, float, "divss")
VS_HOST_BINARY(vs_host_add64, double, "addsd")
VS_HOST_BINARY(vs_host_sub64, double, "subsd")
VS_HOST_BINARY(vs_host_mul64, double, "mulsd")
VS_HOST_BINARY(vs_host_div64, double, "divsd")
VS_HOST_UNARY(vs_host_sqrt32, float, float, "sqrtss")
VS_HOST_UNARY(vs_host_sqrt64, double, double, "sqrtsd")
VS_HOST_UNARY(vs_host_narrow, double, float, "cvtsd2ss")
VS_HOST_UNARY(vs_host_widen, float, double, "cvtss2sd")
VS_HOST_TERNARY(vs_host_fma32, float, "vfmadd213ss")
VS_HOST_TERNARY(vs_host_fma64, double, "vfmadd213sd")
VS_HOST_FROM_INT(vs_host_from_int32, float, "cvtsi2ssq")
VS_HOST_FROM_INT(vs_host_from_int64, double, "cvtsi2sdq")
VS_HOST_TO_INT(vs_host_to_w32, float, int32_t, "cvttss2si")
VS_HOST_TO_INT(vs_host_to_w64, double, int32_t, "cvttsd2si")
VS_HOST_TO_INT(vs_host_to_l32, float, int64_t, "cvttss2si")
VS_HOST_TO_INT(vs_host_to_l64, double, int64_t, "cvttsd2si")

#else
#error "floating point by a host other than x86-64 is not written"
#endif

/* ---- operations of both widths --------------------------------------------------------------- */

#define VS_FP_BINARY(op, width)                                                                    \
    static inline uint64_t vs_fp_##op##width(struct vs_hart *hart, uint64_t a, uint64_t b,         \
                                             unsigned rm)                                          \
    {                                                                                              \
        unsigned flags = 0;                                                                        \
        if (likely(rm == VS_RV64_RNE))                                                             \
            return vs_fp_canonical##width(vs_host_##op##width(a, b));                              \
        uint64_t r = vs_fp_##op(&vs_fp##width, a, b, rm, &flags);                                  \
        hart->fcsr |= flags;                                                                       \
        return r;                                                                                  \
    }

VS_FP_BINARY(add, 32)
VS_FP_BINARY(sub, 32)
VS_FP_BINARY(mul, 32)
VS_FP_BINARY(div, 32)
VS_FP_BINARY(add, 64)
VS_FP_BINARY(sub, 64)
VS_FP_BINARY(mul, 64)
VS_FP_BINARY(div, 64)

/* The host may not signal for infinity times zero plus a NaN, so NaNs are left to softfloat. */
#define VS_FP_WIDTH(width)                                                                         \
    static inline uint64_t vs_fp_sqrt##width(struct vs_hart *hart, uint64_t a, unsigned rm)        \
    {                                                                                              \
        unsigned flags = 0;                                                                        \
        if (likely(rm == VS_RV64_RNE))                                                             \
            return vs_fp_canonical##width(vs_host_sqrt##width(a));                                 \
        uint64_t r = vs_fp_sqrt(&vs_fp##width, a, rm, &flags);                                     \
        hart->fcsr |= flags;                                                                       \
        return r;                                                                                  \
    }                                                                                              \
    static inline uint64_t vs_fp_fma##width(struct vs_hart *hart, uint64_t a, uint64_t b,          \
                                            uint64_t c, unsigned rm)                               \
    {                                                                                              \
        unsigned flags = 0;                                                                        \
        if (likely(rm == VS_RV64_RNE && hart->host_fma)) {                                         \
            uint64_t r = vs_fp_canonical##width(vs_host_fma##width(a, b, c));                      \
            if (likely(r != VS_FP##width##_NAN))                                                   \
                return r;                                                                          \
        }                                                                                          \
        uint64_t r = vs_fp_fma(&vs_fp##width, a, b, c, rm, &flags);                                \
        hart->fcsr |= flags;                                                                       \
        return r;                                                                                  \
    }                                                                                              \
    static inline uint64_t vs_fp_from_signed##width(struct vs_hart *hart, uint64_t a, unsigned rm) \
    {                                                                                              \
        unsigned flags = 0;                                                                        \
        if (likely(rm == VS_RV64_RNE))                                                             \
            return vs_host_from_int##width((int64_t)a);                                            \
        uint64_t r = vs_fp_from_int(&vs_fp##width, a, true, rm, &flags);                           \
        hart->fcsr |= flags;                                                                       \
        return r;                                                                                  \
    }                                                                                              \
    static inline uint64_t vs_fp_from_unsigned##width(struct vs_hart *hart, uint64_t a,            \
                                                      unsigned rm)                                 \
    {                                                                                              \
        unsigned flags = 0;                                                                        \
        if (likely(!(a >> 63)))                                                                    \
            return vs_fp_from_signed##width(hart, a, rm);                                          \
        uint64_t r = vs_fp_from_int(&vs_fp##width, a, false, rm, &flags);                          \
        hart->fcsr |= flags;                                                                       \
        return r;                                                                                  \
    }                                                                                              \
    /* The host answers its smallest number if the value does not fit, but also if it is that. */  \
    static inline uint64_t vs_fp_to_w##width(struct vs_hart *hart, uint64_t a, unsigned rm)        \
    {                                                                                              \
        unsigned flags = 0;                                                                        \
        if (likely(rm == VS_RV64_RTZ)) {                                                           \
            int32_t r = vs_host_to_w##width(a);                                                    \
            if (likely(r != INT32_MIN))                                                            \
                return (uint64_t)(int64_t)r;                                                       \
        }                                                                                          \
        uint64_t r = vs_fp_to_int(&vs_fp##width, a, 32, true, rm, &flags);                         \
        hart->fcsr |= flags;                                                                       \
        return r;                                                                                  \
    }                                                                                              \
    static inline uint64_t vs_fp_to_l##width(struct vs_hart *hart, uint64_t a, unsigned rm)        \
    {                                                                                              \
        unsigned flags = 0;                                                                        \
        if (likely(rm == VS_RV64_RTZ)) {                                                           \
            int64_t r = vs_host_to_l##width(a);                                                    \
            if (likely(r != INT64_MIN))                                                            \
                return (uint64_t)r;                                                                \
        }                                                                                          \
        uint64_t r = vs_fp_to_int(&vs_fp##width, a, 64, true, rm, &flags);                         \
        hart->fcsr |= flags;                                                                       \
        return r;                                                                                  \
    }                                                                                              \
    static inline uint64_t vs_fp_to_unsigned##width(struct vs_hart *hart, uint64_t a,              \
                                                    unsigned bits, unsigned rm)                    \
    {                                                                                              \
        unsigned flags = 0;                                                                        \
        uint64_t r = vs_fp_to_int(&vs_fp##width, a, bits, false, rm, &flags);                      \
        hart->fcsr |= flags;                                                                       \
        return r;                                                                                  \
    }                                                                                              \
    static inline uint64_t vs_fp_pick##width(                                                      \
        struct vs_hart *hart, uint64_t a, uint64_t b,                                              \
        uint64_t (*pick)(const struct vs_fp_format *, uint64_t, uint64_t, unsigned *))             \
    {                                                                                              \
        unsigned flags = 0;                                                                        \
        uint64_t r = pick(&vs_fp##width, a, b, &flags);                                            \
        hart->fcsr |= flags;                                                                       \
        return r;                                                                                  \
    }

VS_FP_WIDTH(32)
VS_FP_WIDTH(64)

/* Maps numbers to integers in the same order; both zeros become 0. */
static inline int64_t vs_fp_order64(uint64_t v)
{
    int64_t magnitude = (int64_t)(v & INT64_MAX);
    return (int64_t)v < 0 ? -magnitude : magnitude;
}

static inline int64_t vs_fp_order32(uint64_t v)
{
    int64_t magnitude = (int64_t)(v & INT32_MAX);
    return (int32_t)v < 0 ? -magnitude : magnitude;
}

#define VS_FP_COMPARE(name, operator, width)                                                       \
    static inline uint64_t vs_fp_##name##width(struct vs_hart *hart, uint64_t a, uint64_t b)       \
    {                                                                                              \
        unsigned flags = 0;                                                                        \
        if (likely(!vs_fp_is_nan##width(a) && !vs_fp_is_nan##width(b)))                            \
            return vs_fp_order##width(a) operator vs_fp_order##width(b);                           \
        uint64_t r = vs_fp_##name(&vs_fp##width, a, b, &flags);                                    \
        hart->fcsr |= flags;                                                                       \
        return r;                                                                                  \
    }

VS_FP_COMPARE(eq, ==, 32)
VS_FP_COMPARE(lt, <, 32)
VS_FP_COMPARE(le, <=, 32)
VS_FP_COMPARE(eq, ==, 64)
VS_FP_COMPARE(lt, <, 64)
VS_FP_COMPARE(le, <=, 64)

static inline uint64_t vs_fp_narrow(struct vs_hart *hart, uint64_t a, unsigned rm)
{
    unsigned flags = 0;
    if (likely(rm == VS_RV64_RNE))
        return vs_fp_canonical32(vs_host_narrow(a));
    uint64_t r = vs_fp_convert(&vs_fp64, &vs_fp32, a, rm, &flags);
    hart->fcsr |= flags;
    return r;
}

static inline uint64_t vs_fp_widen(uint64_t a)
{
    return vs_fp_canonical64(vs_host_widen(a));
}

#endif
