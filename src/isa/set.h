/* SPDX-License-Identifier: MIT */
/* The instruction sets that can be decoded, by the name in a run's fact "isa". Each has a row,
 * which is all that the rest of the tree sees of an ISA. */
#ifndef ISA_SET_H
#define ISA_SET_H

#include <stddef.h>
#include <stdint.h>

#include "isa/abi.h"
#include "isa/cpu.h"
#include "isa/insn.h"
#include "isa/operand.h"
#include "isa/registers.h"
#include "isa/usage.h"

#define VS_ISA_LENGTH_MAX 15  /* bytes of an instruction of any set */
#define VS_ISA_TEXT_MAX   128 /* holds the text of an instruction of any set, and its NUL */
#define VS_ISA_HOST_MAX   128 /* holds what a processor is called, and its NUL */

/* Stubs through which an image calls others, in the sections of its file that are named .plt. */
struct vs_isa_stubs {
    unsigned relocations[2]; /* the types that say whose address a stub's slot gets */
    /* Returns whether a stub of `size` bytes, at least 8, jumps through a slot, and sets *slot. */
    bool (*find_slot)(const uint8_t *stub, size_t size, uint64_t address, uint64_t *slot);
};

/* Every member is set, but those that may be NULL. */
struct vs_isa {
    const char *name;
    const char *title; /* for people: "64-bit RISC-V" */
    unsigned address_bits;
    unsigned length_max; /* bytes of an instruction, at most VS_ISA_LENGTH_MAX */
    unsigned alignment;  /* of an instruction's address */
    /* Decodes the instruction at the start of bytes, which lie at address pc; needs no more than
     * length_max of them. Writes insn only on success. Keeps no state, so any number of threads may
     * decode. Returns 0; -VSE_CORRUPT if the bytes are no instruction; -VSE_TRUNCATED if they end
     * inside what may be one. */
    int (*decode)(const uint8_t *bytes, size_t size, uint64_t pc, struct vs_insn *insn);
    /* Tells what the instruction does with registers and memory. Works and returns as decode. */
    int (*operands)(const uint8_t *bytes, size_t size, uint64_t pc, struct vs_operands *operands);
    /* Tells where an indirect branch goes if the instruction right before it, at pc, has just set
     * its register to a constant. NULL: no trace module of this set looks for that. */
    bool (*infer)(const uint8_t *before, size_t before_size, uint64_t pc, const uint8_t *branch,
                  size_t branch_size, uint64_t *target);
    /* Writes the instruction as text, with a NUL; targets are absolute addresses. Whatever decodes
     * has a text. Returns its length; errors as decode; -VSE_LIMIT if capacity is too small, with
     * out undefined; -VSE_INTERNAL. */
    int (*format)(const uint8_t *bytes, size_t size, uint64_t pc, char *out, size_t capacity);
    /* Returns what the instruction occupies a processor with ("alu", "load", ...); NULL if the
     * bytes are no instruction. Static storage. The member is NULL for an ISA without such names.
     */
    const char *(*class_name)(const uint8_t *bytes, size_t size);

    unsigned elf_machine;             /* EM_x in its programs' files */
    const struct vs_isa_stubs *stubs; /* NULL: none are known */
    uint64_t user_end;                /* where what a program can map under Linux ends */
    uint32_t syscall_changes; /* the registers of isa/operand.h that any system call may change */
    const uint8_t *dwarf;     /* those registers' numbers, by DWARF's from 0 to dwarf_count - 1 */
    unsigned dwarf_count;
    const struct vs_register_set *registers; /* all of them, for a debugger and people */
    const char *debuggers[2];                /* the gdbs that know it; a package has the first */
    const struct vs_abi *abi;                /* of its programs under Linux */
    const struct vs_cpu_ops *cpu;            /* executes it; NULL: nothing here does, but maybe: */
    const char *cpu_object;                  /* the file whose CPU does (isa/cpu_load.h), or NULL */
    /* Writes which processor this is, if what it computes (approximations, for instance) is not the
     * same on all of them, and a replay computes it again; nothing if it is none of this set. NULL:
     * all are alike. */
    void (*host)(char text[VS_ISA_HOST_MAX]);
    const char *unnoted; /* what runs lack whose recorder did not say what it notes (isa/noted.h);
                          * NULL: nothing */
    const struct vs_operations *operations; /* those in the CPU's log; NULL: it has none */
    /* Tells what the instruction needs of a core. Works and returns as decode. NULL: nobody models
     * a core of this set. */
    int (*usage)(const uint8_t *bytes, size_t size, struct vs_usage *usage);
    /* Tells which registers the instruction reads and writes. Works and returns as decode. NULL:
     * nobody asks. */
    int (*accessed)(const uint8_t *bytes, size_t size, struct vs_accessed *accessed);
    /* The registers of a thread's digest (vestige/event.h), in order, by DWARF number or VS_REG_PC;
     * each has a multiple of 8 bytes, or 4, which are followed by zeros. NULL: there is none. */
    const uint16_t *digest;
    unsigned digest_count;
    /* The registers of a thread that a gap names, in order, likewise; of those from `gap_always` on
     * only the ones that are not 0. NULL: nobody leaves out what can be executed again. */
    const uint16_t *gap;
    unsigned gap_count, gap_always;
};

/* Returns the set with that name; NULL if there is none, or name is NULL. Static storage. */
const struct vs_isa *vs_isa_find(const char *name);

/* Returns the set with that machine in an ELF file's header, or NULL. Static storage. */
const struct vs_isa *vs_isa_of_machine(unsigned elf_machine);

/* Returns the name of the system call with that number; NULL if it has none, or isa is NULL. Static
 * storage. */
const char *vs_isa_call_name(const struct vs_isa *isa, uint64_t number);

#endif
