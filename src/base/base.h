/* SPDX-License-Identifier: MIT */
/* The base layer: what every other layer may use. It knows nothing about traces. */
#ifndef BASE_BASE_H
#define BASE_BASE_H

#include "base/arena.h"       /* memory that is freed all at once */
#include "base/array.h"       /* growing arrays of plain structs */
#include "base/bits.h"        /* bit strings: writer and reader */
#include "base/buf.h"         /* a byte buffer that grows */
#include "base/byte_source.h" /* a file or memory to read from at any offset */
#include "base/bytes.h"       /* little-endian loads and stores */
#include "base/copy.h"        /* a sparse copy of memory */
#include "base/copy_pool.h"   /* where many copies get their pages from */
#include "base/crc32c.h"      /* the checksum */
#include "base/decimal.h"     /* decimal digits */
#include "base/diag.h"        /* filling in a struct vs_diag */
#include "base/file_part.h"   /* a part of a file, as a program maps it */
#include "base/hash.h"        /* scattering numbers */
#include "base/hex.h"         /* hexadecimal digits */
#include "base/infile.h"      /* a file or pipe to read from front to back */
#include "base/invariant.h"   /* what must hold, checked in release builds */
#include "base/likely.h"      /* hints for hot loops */
#include "base/map.h"         /* a map from numbers to numbers or pointers */
#include "base/number.h"      /* numbers as people write them */
#include "base/outfile.h"     /* a file that gets its name only when it is complete */
#include "base/pack.h"        /* gzip, bzip2, xz, zstd in pieces */
#include "base/parameter.h"   /* numbers of a struct by name */
#include "base/power.h"       /* powers of two */
#include "base/progress.h"    /* a progress line on a terminal */
#include "base/random.h"      /* reproducible random numbers */
#include "base/scratch.h"     /* address space that is filled, in memory or in a file */
#include "base/search.h"      /* binary search in an array of structs */
#include "base/sha256.h"      /* a name for content */
#include "base/varint.h"      /* LEB128 and zigzag integers */
#include "base/workers.h"     /* worker threads and jobs */

#endif
