/* SPDX-License-Identifier: MIT */
/* The memory that harts execute over, as its owner provides it: a flat memory, caches with timing,
 * or the debugger's decoder of a port stream.
 *
 * A port embeds struct vs_port as its first member. Functions get the hart; its id, pc and instret
 * are those of the instruction that accesses. They must not start a hart themselves.
 *
 * Returns, where nothing else is said: 0; VS_PORT_FAULT if there is no such memory or it may not be
 * used so, with hart->tval set to the address at fault and nothing changed; a negative -VSE_x to
 * stop before the instruction, which vs_iss_run returns.
 */
#ifndef ISA_RV64_ISS_PORT_H
#define ISA_RV64_ISS_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VS_PAGE_BITS 12
#define VS_PAGE_SIZE (UINT64_C(1) << VS_PAGE_BITS)

struct vs_hart;
struct vs_port;

enum {
    VS_PORT_FAULT = 1,
    VS_PORT_CODE = 2, /* of write and conditional: done, and decoded code is out of date */
};

/* What an access is part of. */
enum vs_access {
    VS_ACCESS_PLAIN,
    VS_ACCESS_RESERVED, /* a read: of load-reserved, which makes the hart's reservation */
    VS_ACCESS_AMO,      /* a read that is followed by the write, unless it failed: what lies between
                         * them is atomic. It faults unless the memory may be written as well, and
                         * the write does not fault. */
};

struct vs_port_ops {
    /* Bytes of code: 2, at an even address. */
    int (*fetch)(struct vs_port *port, struct vs_hart *hart, uint64_t addr, uint16_t *parcel);

    /* 1, 2, 4 or 8 bytes at any address; reserved and atomic ones are aligned. Upper bytes of
     * *value are to be zero, those of value are undefined. */
    int (*read)(struct vs_port *port, struct vs_hart *hart, uint64_t addr, unsigned size,
                enum vs_access access, uint64_t *value);
    int (*write)(struct vs_port *port, struct vs_hart *hart, uint64_t addr, unsigned size,
                 enum vs_access access, uint64_t value);

    /* Store-conditional, aligned. *stored: whether the reservation held; it is gone afterwards. */
    int (*conditional)(struct vs_port *port, struct vs_hart *hart, uint64_t addr, unsigned size,
                       uint64_t value, int *stored);

    /* The value that a read of cycle, time, instret or an hpmcounter gets. VS_PORT_FAULT: there is
     * no such counter, the instruction is illegal. */
    int (*counter)(struct vs_port *port, struct vs_hart *hart, unsigned csr, uint64_t *value);

    /* Optional. The host's address of the page at addr (a multiple of VS_PAGE_SIZE), if plain reads
     * (or, with `writing`, plain writes) of this hart may go there without the port seeing them;
     * else NULL. The hart keeps it until vs_hart_forget_page. */
    uint8_t *(*page)(struct vs_port *port, struct vs_hart *hart, uint64_t addr, int writing);
};

/* The host's status word of floating point by default: all exceptions masked, to nearest, no
 * flags. */
#define VS_PORT_STATUS UINT32_C(0x1f80)

struct vs_port {
    const struct vs_port_ops *ops;
    bool integer; /* reads and writes neither compute with floating point nor look at the hart's
                   * fcsr, which may lack flags then, and a run begins with the host's status word
                   * at VS_PORT_STATUS, or its flags become the hart's: they cost less */
};

#endif
