/* SPDX-License-Identifier: MIT */
/* SHA-256 (FIPS 180-4): a name for content that nothing else has. */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#include "vestige/error.h"

enum { VS_SHA256_TEXT = 65 }; /* 64 hexadecimal digits and a NUL */

struct vs_sha256 {
    uint32_t state[8];
    uint64_t size; /* bytes so far */
    uint8_t block[64];
};

void vs_sha256_init(struct vs_sha256 *s);
void vs_sha256_add(struct vs_sha256 *s, const void *data, size_t size);

/* Adds a string and its NUL, so that two strings are not the same as one. */
void vs_sha256_add_text(struct vs_sha256 *s, const char *text);

/* Writes the digest in hexadecimal. Nothing can be added after that. */
void vs_sha256_end(struct vs_sha256 *s, char text[VS_SHA256_TEXT]);

/* The digest of a file's content. Returns 0; -VSE_IO. */
int vs_sha256_file(const char *path, char text[VS_SHA256_TEXT], struct vs_diag *diag);

#endif
