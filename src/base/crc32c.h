/* SPDX-License-Identifier: MIT */
/* CRC-32C (Castagnoli), as in iSCSI and ext4: reflected polynomial 0x82F63B78, the register
 * inverted before and after. vs_crc32c(0, "123456789", 9) is 0xE3069283. */
#ifndef BASE_CRC32C_H
#define BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* The checksum of some bytes, where crc is that of the bytes before them, 0 if there are none:
 * crc32c(ab) = vs_crc32c(vs_crc32c(0, a), b). Uses the processor's instruction if it has one. */
uint32_t vs_crc32c(uint32_t crc, const void *data, size_t size);

/* The same without special instructions. */
uint32_t vs_crc32c_soft(uint32_t crc, const void *data, size_t size);

#endif
