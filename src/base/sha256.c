/* SPDX-License-Identifier: MIT */
#include "base/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"

static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t turn(uint32_t x, unsigned bits)
{
    return x >> bits | x << (32 - bits);
}

static uint32_t load(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void take_block(uint32_t state[8], const uint8_t *block)
{
    uint32_t w[64], v[8];
    for (unsigned i = 0; i < 16; i++)
        w[i] = load(block + 4 * (size_t)i);
    for (unsigned i = 16; i < 64; i++) {
        uint32_t a = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t b = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + a + w[i - 7] + b;
    }
    memcpy(v, state, sizeof(v));
    for (unsigned i = 0; i < 64; i++) {
        uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
        uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        uint32_t a =
            v[7] + (turn(v[4], 6) ^ turn(v[4], 11) ^ turn(v[4], 25)) + choice + constants[i] + w[i];
        uint32_t b = (turn(v[0], 2) ^ turn(v[0], 13) ^ turn(v[0], 22)) + majority;
        memmove(v + 1, v, 7 * sizeof(*v));
        v[4] += a;
        v[0] = a + b;
    }
    for (unsigned i = 0; i < 8; i++)
        state[i] += v[i];
}

void vs_sha256_init(struct vs_sha256 *s)
{
    *s = (struct vs_sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                                      0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void vs_sha256_add(struct vs_sha256 *s, const void *data, size_t size)
{
    const uint8_t *p = data;
    while (size) {
        size_t used = s->size % sizeof(s->block), room = sizeof(s->block) - used;
        size_t n = size < room ? size : room;
        if (n == sizeof(s->block)) {
            take_block(s->state, p);
        } else {
            memcpy(s->block + used, p, n);
            if (n == room)
                take_block(s->state, s->block);
        }
        s->size += n;
        p += n;
        size -= n;
    }
}

void vs_sha256_add_text(struct vs_sha256 *s, const char *text)
{
    vs_sha256_add(s, text, strlen(text) + 1);
}

void vs_sha256_end(struct vs_sha256 *s, char text[VS_SHA256_TEXT])
{
    static const uint8_t padding[64] = {0x80};
    uint64_t bits = s->size * 8;
    uint8_t length[8];
    for (unsigned i = 0; i < 8; i++)
        length[i] = (uint8_t)(bits >> (56 - 8 * i));
    vs_sha256_add(s, padding, 1 + (119 - s->size % 64) % 64);
    vs_sha256_add(s, length, sizeof(length));
    for (unsigned i = 0; i < 8; i++)
        snprintf(text + 8 * (size_t)i, 9, "%08x", s->state[i]);
}

int vs_sha256_file(const char *path, char text[VS_SHA256_TEXT], struct vs_diag *diag)
{
    uint8_t buffer[16384];
    struct vs_sha256 s;
    ssize_t n;
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO would wait for a writer */
    if (fd < 0)
        return vs_diag_io(diag, "cannot open", path);
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
        close(fd);
        return vs_diag_set(diag, -VSE_IO, -1, -1, "%.120s is not a regular file", path);
    }
    vs_sha256_init(&s);
    while ((n = read(fd, buffer, sizeof(buffer))) > 0 || (n < 0 && errno == EINTR))
        if (n > 0)
            vs_sha256_add(&s, buffer, (size_t)n);
    int e = n < 0 ? vs_diag_io(diag, "cannot read", path) : 0;
    close(fd);
    if (!e)
        vs_sha256_end(&s, text);
    return e;
}
