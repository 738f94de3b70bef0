/* SPDX-License-Identifier: MIT */
/* SHA-1, SHA-256 and HMAC-SHA-256 of messages whose lengths spread over three orders of magnitude,
 * fed in pieces of irregular length; the SHA-256 digests become the leaves of a Merkle tree. The
 * rounds are written out, so this is the program with the longest stretches without a branch. */
#include <stdlib.h>
#include <string.h>

#include "common/wl.h"

#define BLOCK       64
#define DIGEST      32 /* the longest */
#define POOL        65536
#define MESSAGE_LOG 13 /* log2 of the limit of a message's length */

static const struct wl_program program = {
    .name = "sha",
    .about = "SHA-1, SHA-256 and a Merkle tree over messages of varying length",
    .size = "number of messages",
    .size_default = 40,
    .size_min = 1,
    .size_max = 1u << 30,
    .threads_max = 1,
};

struct constants {
    uint32_t k1[4];
    uint32_t k256[64], h256[8];
};

struct hash;

struct kind {
    void (*compress)(struct hash *h, const uint8_t *block);
    unsigned words; /* of the digest */
};

struct hash {
    const struct kind *kind;
    const struct constants *c;
    uint32_t h[8];
    uint64_t length;
    uint8_t block[BLOCK];
};

/* ---- the constants: fractions of roots ------------------------------------------------------- */

/* The greatest x below 2^40 whose power (2 or 3) is at most n. */
static uint64_t root(unsigned __int128 n, unsigned power)
{
    uint64_t x = 0;

    for (int bit = 39; bit >= 0; bit--) {
        uint64_t y = x | UINT64_C(1) << bit;
        unsigned __int128 p = (unsigned __int128)y * y;

        if (power == 3)
            p = p > n ? n + 1 : p * y;
        if (p <= n)
            x = y;
    }
    return x;
}

static bool is_prime(unsigned n)
{
    for (unsigned d = 2; d * d <= n; d++)
        if (n % d == 0)
            return false;
    return true;
}

static void make_constants(struct constants *c)
{
    static const unsigned radicands[4] = {2, 3, 5, 10};
    unsigned n = 2;

    for (unsigned i = 0; i < 4; i++)
        c->k1[i] = (uint32_t)root((unsigned __int128)radicands[i] << 60, 2);
    for (unsigned i = 0; i < 64; n++) {
        if (!is_prime(n))
            continue;
        if (i < 8)
            c->h256[i] = (uint32_t)root((unsigned __int128)n << 64, 2);
        c->k256[i++] = (uint32_t)root((unsigned __int128)n << 96, 3);
    }
}

/* ---- the compression functions --------------------------------------------------------------- */

static inline uint32_t rotl(uint32_t x, unsigned n)
{
    return x << n | x >> (32 - n);
}

static inline uint32_t rotr(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

static inline uint32_t load(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void store(uint8_t *p, uint32_t v)
{
    for (unsigned i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> (24 - 8 * i));
}

#define CHOOSE(x, y, z)   ((z) ^ ((x) & ((y) ^ (z))))
#define MAJORITY(x, y, z) (((x) & (y)) | ((z) & ((x) | (y))))
#define PARITY(x, y, z)   ((x) ^ (y) ^ (z))

/* Eight words of the message, or of what follows from it. */
#define EIGHT(f, i)                                                                                \
    f(i);                                                                                          \
    f((i) + 1);                                                                                    \
    f((i) + 2);                                                                                    \
    f((i) + 3);                                                                                    \
    f((i) + 4);                                                                                    \
    f((i) + 5);                                                                                    \
    f((i) + 6);                                                                                    \
    f((i) + 7)

#define WORD(i)  w[i] = load(block + 4 * (i))
#define NEXT1(i) w[i] = rotl(w[(i)-3] ^ w[(i)-8] ^ w[(i)-14] ^ w[(i)-16], 1)

/* The roles of the five variables move round by one from step to step instead of their values. */
#define STEP1(f, a, b, c, d, e, k, i)                                                              \
    e += rotl(a, 5) + f(b, c, d) + (k) + w[i];                                                     \
    b = rotl(b, 30)

#define FIVE1(f, k, i)                                                                             \
    STEP1(f, a, b, c, d, e, k, i);                                                                 \
    STEP1(f, e, a, b, c, d, k, (i) + 1);                                                           \
    STEP1(f, d, e, a, b, c, k, (i) + 2);                                                           \
    STEP1(f, c, d, e, a, b, k, (i) + 3);                                                           \
    STEP1(f, b, c, d, e, a, k, (i) + 4)

#define TWENTY1(f, k, i)                                                                           \
    FIVE1(f, k, i);                                                                                \
    FIVE1(f, k, (i) + 5);                                                                          \
    FIVE1(f, k, (i) + 10);                                                                         \
    FIVE1(f, k, (i) + 15)

static void compress1(struct hash *s, const uint8_t *block)
{
    const uint32_t *k = s->c->k1;
    uint32_t a = s->h[0], b = s->h[1], c = s->h[2], d = s->h[3], e = s->h[4], w[80];

    EIGHT(WORD, 0);
    EIGHT(WORD, 8);
    for (unsigned i = 16; i < 80; i += 32) {
        EIGHT(NEXT1, i);
        EIGHT(NEXT1, i + 8);
        EIGHT(NEXT1, i + 16);
        EIGHT(NEXT1, i + 24);
    }
    TWENTY1(CHOOSE, k[0], 0);
    TWENTY1(PARITY, k[1], 20);
    TWENTY1(MAJORITY, k[2], 40);
    TWENTY1(PARITY, k[3], 60);
    s->h[0] += a;
    s->h[1] += b;
    s->h[2] += c;
    s->h[3] += d;
    s->h[4] += e;
}

#define BIG0(x)   (rotr(x, 2) ^ rotr(x, 13) ^ rotr(x, 22))
#define BIG1(x)   (rotr(x, 6) ^ rotr(x, 11) ^ rotr(x, 25))
#define SMALL0(x) (rotr(x, 7) ^ rotr(x, 18) ^ (x) >> 3)
#define SMALL1(x) (rotr(x, 17) ^ rotr(x, 19) ^ (x) >> 10)

#define NEXT256(i) w[i] = SMALL1(w[(i)-2]) + w[(i)-7] + SMALL0(w[(i)-15]) + w[(i)-16]

#define STEP256(a, b, c, d, e, f, g, h, i)                                                         \
    h += BIG1(e) + CHOOSE(e, f, g) + k[i] + w[i];                                                  \
    d += h;                                                                                        \
    h += BIG0(a) + MAJORITY(a, b, c)

#define EIGHT256(i)                                                                                \
    STEP256(a, b, c, d, e, f, g, h, i);                                                            \
    STEP256(h, a, b, c, d, e, f, g, (i) + 1);                                                      \
    STEP256(g, h, a, b, c, d, e, f, (i) + 2);                                                      \
    STEP256(f, g, h, a, b, c, d, e, (i) + 3);                                                      \
    STEP256(e, f, g, h, a, b, c, d, (i) + 4);                                                      \
    STEP256(d, e, f, g, h, a, b, c, (i) + 5);                                                      \
    STEP256(c, d, e, f, g, h, a, b, (i) + 6);                                                      \
    STEP256(b, c, d, e, f, g, h, a, (i) + 7)

static void compress256(struct hash *s, const uint8_t *block)
{
    const uint32_t *k = s->c->k256;
    uint32_t a = s->h[0], b = s->h[1], c = s->h[2], d = s->h[3];
    uint32_t e = s->h[4], f = s->h[5], g = s->h[6], h = s->h[7], w[64];

    EIGHT(WORD, 0);
    EIGHT(WORD, 8);
    for (unsigned i = 16; i < 64; i += 16) {
        EIGHT(NEXT256, i);
        EIGHT(NEXT256, i + 8);
    }
    for (unsigned i = 0; i < 64; i += 16) {
        EIGHT256(i);
        EIGHT256(i + 8);
    }
    s->h[0] += a;
    s->h[1] += b;
    s->h[2] += c;
    s->h[3] += d;
    s->h[4] += e;
    s->h[5] += f;
    s->h[6] += g;
    s->h[7] += h;
}

static const struct kind sha1 = {compress1, 5}, sha256 = {compress256, 8};

/* ---- hashing in pieces ----------------------------------------------------------------------- */

static void start(struct hash *s, const struct kind *kind, const struct constants *c)
{
    static const uint32_t h1[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};

    s->kind = kind;
    s->c = c;
    s->length = 0;
    memcpy(s->h, kind == &sha1 ? h1 : c->h256, kind->words * sizeof(*s->h));
}

static void update(struct hash *s, const uint8_t *p, size_t n)
{
    size_t held = s->length % BLOCK, room = BLOCK - held;

    s->length += n;
    if (held && n >= room) {
        memcpy(s->block + held, p, room);
        s->kind->compress(s, s->block);
        p += room;
        n -= room;
        held = 0;
    }
    for (; held == 0 && n >= BLOCK; p += BLOCK, n -= BLOCK)
        s->kind->compress(s, p);
    if (n)
        memcpy(s->block + held, p, n);
}

static void finish(struct hash *s, uint8_t *digest)
{
    uint64_t bits = s->length * 8;
    size_t held = s->length % BLOCK;

    s->block[held++] = 0x80;
    if (held > BLOCK - 8) {
        memset(s->block + held, 0, BLOCK - held);
        s->kind->compress(s, s->block);
        held = 0;
    }
    memset(s->block + held, 0, BLOCK - 8 - held);
    store(s->block + BLOCK - 8, (uint32_t)(bits >> 32));
    store(s->block + BLOCK - 4, (uint32_t)bits);
    s->kind->compress(s, s->block);
    for (unsigned i = 0; i < s->kind->words; i++)
        store(digest + 4 * i, s->h[i]);
}

static void keyed(const struct constants *c, const uint8_t *key, size_t key_length,
                  const uint8_t *p, size_t n, uint8_t *digest)
{
    uint8_t pad[BLOCK];
    struct hash s;

    memset(pad, 0x36, BLOCK);
    for (size_t i = 0; i < key_length; i++)
        pad[i] ^= key[i];
    start(&s, &sha256, c);
    update(&s, pad, BLOCK);
    update(&s, p, n);
    finish(&s, digest);
    for (size_t i = 0; i < BLOCK; i++)
        pad[i] ^= 0x36 ^ 0x5c;
    start(&s, &sha256, c);
    update(&s, pad, BLOCK);
    update(&s, digest, DIGEST);
    finish(&s, digest);
}

/* ---- the run --------------------------------------------------------------------------------- */

/* Subtrees complete so far, one per set bit of the number of leaves. */
struct merkle {
    uint64_t leaves;
    uint8_t level[64][DIGEST];
};

static void join(const struct constants *c, const uint8_t *left, uint8_t *right)
{
    struct hash s;

    start(&s, &sha256, c);
    update(&s, left, DIGEST);
    update(&s, right, DIGEST);
    finish(&s, right);
}

static void add_leaf(struct merkle *m, const struct constants *c, const uint8_t *digest)
{
    uint8_t node[DIGEST];
    unsigned l = 0;

    memcpy(node, digest, DIGEST);
    for (; m->leaves >> l & 1; l++)
        join(c, m->level[l], node);
    memcpy(m->level[l], node, DIGEST);
    m->leaves++;
}

static void in_pieces(struct hash *s, const uint8_t *p, size_t n, struct wl_rng *r)
{
    while (n) {
        size_t piece = 1 + (size_t)wl_below(r, wl_below(r, 4) ? 600 : 40);

        piece = piece < n ? piece : n;
        update(s, p, piece);
        p += piece;
        n -= piece;
    }
}

/* Whether hashing the message at once gives the same digest as in pieces. */
static bool same_at_once(const struct constants *c, const struct kind *kind, const uint8_t *p,
                         size_t n, const uint8_t *digest)
{
    uint8_t again[DIGEST];
    struct hash s;

    start(&s, kind, c);
    update(&s, p, n);
    finish(&s, again);
    return memcmp(again, digest, kind->words * 4) == 0;
}

static uint64_t run(const struct constants *c, const struct wl_args *a, const uint8_t *pool,
                    bool *passed)
{
    struct wl_rng r = wl_rng(a->seed, 1);
    struct merkle *m = wl_alloc(sizeof(*m));
    uint8_t d1[DIGEST], d256[DIGEST] = {0}, mac[DIGEST];
    uint64_t sum = 0;
    struct hash s;

    for (uint64_t i = 0; i < a->size; i++) {
        size_t n = (size_t)wl_below(&r, UINT64_C(2) << wl_below(&r, MESSAGE_LOG));
        const uint8_t *p = pool + wl_below(&r, POOL - n);

        if (i % 4 == 3) {
            keyed(c, d256, sizeof(d256), p, n, mac);
            sum = wl_sum_bytes(sum, mac, DIGEST);
        }
        start(&s, &sha1, c);
        in_pieces(&s, p, n, &r);
        finish(&s, d1);
        start(&s, &sha256, c);
        in_pieces(&s, p, n, &r);
        finish(&s, d256);
        add_leaf(m, c, d256);
        sum = wl_sum_bytes(sum, d1, 20);
        if (a->check && !(same_at_once(c, &sha1, p, n, d1) && same_at_once(c, &sha256, p, n, d256)))
            *passed = false;
    }
    for (unsigned l = 0; l < 64; l++)
        if (m->leaves >> l & 1)
            sum = wl_sum_bytes(sum, m->level[l], DIGEST);
    free(m);
    return sum;
}

/* ---- known answers --------------------------------------------------------------------------- */

static bool answers(const struct constants *c, const struct kind *kind, const char *text,
                    unsigned times, const char *expected)
{
    uint8_t digest[DIGEST];
    struct hash s;

    start(&s, kind, c);
    for (unsigned i = 0; i < times; i++)
        update(&s, (const uint8_t *)text, strlen(text));
    finish(&s, digest);
    for (unsigned i = 0; i < kind->words * 8; i++)
        if ("0123456789abcdef"[digest[i / 2] >> (i % 2 ? 0 : 4) & 15] != expected[i])
            return false;
    return true;
}

static bool known_answers(const struct constants *c)
{
    static const char two_blocks[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    static const uint8_t mac_start[4] = {0x5b, 0xdc, 0xc1, 0x46}; /* RFC 4231, case 2 */
    uint8_t mac[DIGEST];

    keyed(c, (const uint8_t *)"Jefe", 4, (const uint8_t *)"what do ya want for nothing?", 28, mac);
    return memcmp(mac, mac_start, 4) == 0 &&
           answers(c, &sha1, "", 1, "da39a3ee5e6b4b0d3255bfef95601890afd80709") &&
           answers(c, &sha1, "abc", 1, "a9993e364706816aba3e25717850c26c9cd0d89d") &&
           answers(c, &sha1, two_blocks, 1, "84983e441c3bd26ebaae4aa1f95129e5e54670f1") &&
           answers(c, &sha1, "a", 1000000, "34aa973cd4c4daa4f61eeb2bdbad27316534016f") &&
           answers(c, &sha256, "", 1,
                   "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855") &&
           answers(c, &sha256, "abc", 1,
                   "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad") &&
           answers(c, &sha256, two_blocks, 1,
                   "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1") &&
           answers(c, &sha256, "a", 1000000,
                   "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

int main(int argc, char **argv)
{
    struct wl_args a = wl_args(&program, argc, argv);
    struct wl_rng r = wl_rng(a.seed, 0);
    uint8_t *pool = wl_alloc(POOL);
    struct constants c;
    uint64_t sum;
    bool passed = true;

    for (unsigned i = 0; i < POOL; i++)
        pool[i] = (uint8_t)wl_random(&r);
    make_constants(&c);
    sum = run(&c, &a, pool, &passed);
    if (a.check)
        passed = known_answers(&c) && passed;
    free(pool);
    return wl_finish(&program, &a, sum, passed);
}
