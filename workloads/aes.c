/* SPDX-License-Identifier: MIT */
/* AES with 128 and 256-bit keys by table lookup, the tables computed at the start. Records of
 * varying length, each with its own key and mode (ECB or CBC with padding, CTR), are encrypted,
 * decrypted and unpadded. Nearly all of it is loads at addresses that depend on the data. */
#include <stdlib.h>
#include <string.h>

#include "common/wl.h"

#define BLOCK      16
#define POOL       32768
#define RECORD     4096 /* limit of a record's length */
#define KEYS       8
#define ROUNDS_MAX 14

static const struct wl_program program = {
    .name = "aes",
    .about = "encrypts and decrypts records by table-based AES in several modes",
    .size = "number of records",
    .size_default = 25,
    .size_min = 1,
    .size_max = 1u << 30,
    .threads_max = 1,
};

enum mode { ECB, CBC, CTR, MODES };

/* e[r], d[r]: a substituted byte of row r times its column of the mixing matrix. */
struct tables {
    uint32_t e[4][256], d[4][256];
    uint8_t sub[256], inverse[256];
};

struct key {
    const struct tables *t;
    unsigned rounds;
    uint32_t e[4 * (ROUNDS_MAX + 1)], d[4 * (ROUNDS_MAX + 1)];
};

/* ---- tables ---------------------------------------------------------------------------------- */

static uint8_t times2(uint8_t x)
{
    return (uint8_t)(x << 1 ^ (x & 0x80 ? 0x1b : 0));
}

static uint8_t times(uint8_t x, uint8_t y)
{
    uint8_t p = 0;

    for (; y; y >>= 1, x = times2(x))
        if (y & 1)
            p ^= x;
    return p;
}

/* Powers of 3 run through all but zero, and those of its inverse 0xf6 through the inverses. */
static void make_substitution(struct tables *t)
{
    uint8_t p = 1, q = 1;

    do {
        uint8_t s = 0x63;

        for (unsigned i = 0; i < 5; i++)
            s ^= (uint8_t)(q << i | q >> (8 - i));
        t->sub[p] = s;
        p = times(p, 3);
        q = times(q, 0xf6);
    } while (p != 1);
    t->sub[0] = 0x63;
    for (unsigned i = 0; i < 256; i++)
        t->inverse[t->sub[i]] = (uint8_t)i;
}

static uint32_t word(uint8_t a, uint8_t b, uint8_t c, uint8_t d)
{
    return (uint32_t)a << 24 | (uint32_t)b << 16 | (uint32_t)c << 8 | d;
}

static uint32_t turn(uint32_t w, unsigned bits)
{
    return bits ? w >> bits | w << (32 - bits) : w;
}

static void make_tables(struct tables *t)
{
    make_substitution(t);
    for (unsigned i = 0; i < 256; i++) {
        uint8_t s = t->sub[i], v = t->inverse[i];
        uint32_t e = word(times(s, 2), s, s, times(s, 3));
        uint32_t d = word(times(v, 14), times(v, 9), times(v, 13), times(v, 11));

        for (unsigned r = 0; r < 4; r++) {
            t->e[r][i] = turn(e, 8 * r);
            t->d[r][i] = turn(d, 8 * r);
        }
    }
}

/* ---- keys ------------------------------------------------------------------------------------ */

static uint32_t load(const uint8_t *p)
{
    return word(p[0], p[1], p[2], p[3]);
}

static void store(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 24);
    p[1] = (uint8_t)(v >> 16);
    p[2] = (uint8_t)(v >> 8);
    p[3] = (uint8_t)v;
}

static uint32_t substitute(const uint8_t *sub, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    return word(sub[a >> 24], sub[b >> 16 & 255], sub[c >> 8 & 255], sub[d & 255]);
}

/* Decryption runs the same rounds as encryption, for which the inner keys go through the inverse of
 * the mixing. */
static void invert_key(struct key *k)
{
    const struct tables *t = k->t;

    for (unsigned i = 0; i < 4 * (k->rounds + 1); i++) {
        uint32_t w = k->e[4 * (k->rounds - i / 4) + i % 4];

        if (i >= 4 && i < 4 * k->rounds)
            w = t->d[0][t->sub[w >> 24]] ^ t->d[1][t->sub[w >> 16 & 255]] ^
                t->d[2][t->sub[w >> 8 & 255]] ^ t->d[3][t->sub[w & 255]];
        k->d[i] = w;
    }
}

static void set_key(struct key *k, const struct tables *t, const uint8_t *bytes, unsigned bits)
{
    unsigned n = bits / 32;
    uint8_t round = 1;

    k->t = t;
    k->rounds = n + 6;
    for (unsigned i = 0; i < 4 * (k->rounds + 1); i++) {
        uint32_t w;

        if (i < n) {
            k->e[i] = load(bytes + 4 * i);
            continue;
        }
        w = k->e[i - 1];
        if (i % n == 0) {
            w = turn(w, 24);
            w = substitute(t->sub, w, w, w, w) ^ (uint32_t)round << 24;
            round = times2(round);
        } else if (n > 6 && i % n == 4) {
            w = substitute(t->sub, w, w, w, w);
        }
        k->e[i] = k->e[i - n] ^ w;
    }
    invert_key(k);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static inline uint32_t mix(const uint32_t t[4][256], uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    return t[0][a >> 24] ^ t[1][b >> 16 & 255] ^ t[2][c >> 8 & 255] ^ t[3][d & 255];
}

static void encrypt(const struct key *key, const uint8_t *in, uint8_t *out)
{
    const struct tables *t = key->t;
    const uint32_t *k = key->e;
    uint32_t a = load(in) ^ k[0], b = load(in + 4) ^ k[1];
    uint32_t c = load(in + 8) ^ k[2], d = load(in + 12) ^ k[3];

    for (unsigned r = 1; r < key->rounds; r++) {
        uint32_t w = a, x = b, y = c;

        k += 4;
        a = mix(t->e, w, x, y, d) ^ k[0];
        b = mix(t->e, x, y, d, w) ^ k[1];
        c = mix(t->e, y, d, w, x) ^ k[2];
        d = mix(t->e, d, w, x, y) ^ k[3];
    }
    store(out, substitute(t->sub, a, b, c, d) ^ k[4]);
    store(out + 4, substitute(t->sub, b, c, d, a) ^ k[5]);
    store(out + 8, substitute(t->sub, c, d, a, b) ^ k[6]);
    store(out + 12, substitute(t->sub, d, a, b, c) ^ k[7]);
}

static void decrypt(const struct key *key, const uint8_t *in, uint8_t *out)
{
    const struct tables *t = key->t;
    const uint32_t *k = key->d;
    uint32_t a = load(in) ^ k[0], b = load(in + 4) ^ k[1];
    uint32_t c = load(in + 8) ^ k[2], d = load(in + 12) ^ k[3];

    for (unsigned r = 1; r < key->rounds; r++) {
        uint32_t w = a, x = b, y = c;

        k += 4;
        a = mix(t->d, w, d, y, x) ^ k[0];
        b = mix(t->d, x, w, d, y) ^ k[1];
        c = mix(t->d, y, x, w, d) ^ k[2];
        d = mix(t->d, d, y, x, w) ^ k[3];
    }
    store(out, substitute(t->inverse, a, d, c, b) ^ k[4]);
    store(out + 4, substitute(t->inverse, b, a, d, c) ^ k[5]);
    store(out + 8, substitute(t->inverse, c, b, a, d) ^ k[6]);
    store(out + 12, substitute(t->inverse, d, c, b, a) ^ k[7]);
}

/* ---- modes ----------------------------------------------------------------------------------- */

static void add(uint8_t *to, const uint8_t *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] ^= from[i];
}

/* To itself the inverse; n need not be whole blocks. */
static void counter(const struct key *k, const uint8_t *start, uint8_t *data, size_t n)
{
    uint8_t count[BLOCK], stream[BLOCK];

    memcpy(count, start, BLOCK);
    for (size_t at = 0; at < n; at += BLOCK) {
        encrypt(k, count, stream);
        add(data + at, stream, n - at < BLOCK ? n - at : BLOCK);
        for (int i = BLOCK - 1; i >= 0 && ++count[i] == 0; i--)
            ;
    }
}

static void seal_blocks(const struct key *k, const uint8_t *chain, uint8_t *data, size_t n)
{
    for (size_t at = 0; at < n; at += BLOCK) {
        if (chain) {
            add(data + at, chain, BLOCK);
            chain = data + at;
        }
        encrypt(k, data + at, data + at);
    }
}

static void open_blocks(const struct key *k, const uint8_t *chain, uint8_t *data, size_t n)
{
    uint8_t before[BLOCK], sealed[BLOCK];

    if (chain)
        memcpy(before, chain, BLOCK);
    for (size_t at = 0; at < n; at += BLOCK) {
        memcpy(sealed, data + at, BLOCK);
        decrypt(k, data + at, data + at);
        if (chain) {
            add(data + at, before, BLOCK);
            memcpy(before, sealed, BLOCK);
        }
    }
}

/* Returns the length with the padding, which data has room for. */
static size_t seal(const struct key *k, enum mode mode, const uint8_t *iv, uint8_t *data, size_t n)
{
    size_t pad = BLOCK - n % BLOCK;

    if (mode == CTR) {
        counter(k, iv, data, n);
        return n;
    }
    memset(data + n, (int)pad, pad);
    seal_blocks(k, mode == CBC ? iv : NULL, data, n + pad);
    return n + pad;
}

/* Returns the length without the padding; SIZE_MAX if that is not as seal made it. */
static size_t unseal(const struct key *k, enum mode mode, const uint8_t *iv, uint8_t *data,
                     size_t n)
{
    size_t pad;

    if (mode == CTR) {
        counter(k, iv, data, n);
        return n;
    }
    open_blocks(k, mode == CBC ? iv : NULL, data, n);
    pad = n ? data[n - 1] : 0;
    if (pad == 0 || pad > BLOCK || pad > n)
        return SIZE_MAX;
    for (size_t i = n - pad; i < n; i++)
        if (data[i] != pad)
            return SIZE_MAX;
    return n - pad;
}

/* ---- the run --------------------------------------------------------------------------------- */

static uint64_t run(const struct tables *t, const struct wl_args *a, const uint8_t *pool,
                    bool *passed)
{
    struct wl_rng r = wl_rng(a->seed, 1);
    struct key *keys = wl_alloc(KEYS * sizeof(*keys));
    uint8_t *data = wl_alloc(RECORD + BLOCK);
    uint64_t sum = 0;

    for (uint64_t i = 0; i < a->size; i++) {
        size_t n = (size_t)wl_below(&r, 1 + wl_below(&r, RECORD)), sealed, back;
        const uint8_t *text = pool + wl_below(&r, POOL - RECORD), *iv = pool + wl_below(&r, RECORD);
        enum mode mode = (enum mode)wl_below(&r, MODES);
        unsigned slot = (unsigned)wl_below(&r, KEYS);

        if (keys[slot].rounds == 0 || wl_below(&r, 4) == 0) {
            unsigned bits = wl_below(&r, 2) ? 256 : 128;

            set_key(&keys[slot], t, pool + wl_below(&r, RECORD), bits);
        }
        memcpy(data, text, n);
        sealed = seal(&keys[slot], mode, iv, data, n);
        sum = wl_sum_bytes(sum, data, sealed);
        back = unseal(&keys[slot], mode, iv, data, sealed);
        sum = wl_sum(sum, back);
        if (a->check && (back != n || memcmp(data, text, n) != 0))
            *passed = false;
    }
    free(keys);
    free(data);
    return sum;
}

/* ---- known answers: FIPS 197 appendix C, SP 800-38A appendix F ------------------------------- */

static void from_hex(const char *text, uint8_t *out)
{
    for (size_t i = 0; text[i]; i++) {
        uint8_t v = (uint8_t)(text[i] <= '9' ? text[i] - '0' : text[i] - 'a' + 10);

        out[i / 2] = i % 2 ? (uint8_t)(out[i / 2] | v) : (uint8_t)(v << 4);
    }
}

struct answer {
    enum mode mode;
    unsigned bits;
    const char *key, *iv, *text, *sealed;
};

static bool right(const struct tables *t, const struct answer *a)
{
    uint8_t key[32], iv[BLOCK] = {0}, text[3 * BLOCK], sealed[3 * BLOCK], data[3 * BLOCK];
    size_t n = strlen(a->text) / 2, m;
    struct key k;

    from_hex(a->key, key);
    from_hex(a->iv, iv);
    from_hex(a->text, text);
    from_hex(a->sealed, sealed);
    set_key(&k, t, key, a->bits);
    memcpy(data, text, n);
    m = seal(&k, a->mode, iv, data, n);
    return memcmp(data, sealed, n) == 0 && unseal(&k, a->mode, iv, data, m) == n &&
           memcmp(data, text, n) == 0;
}

#define KEY128 "2b7e151628aed2a6abf7158809cf4f3c"
#define KEY256 "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"
#define COUNT  "000102030405060708090a0b0c0d0e0f"
#define FIPS   "00112233445566778899aabbccddeeff"
#define TEXT   "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"

static bool known_answers(const struct tables *t)
{
    static const struct answer answers[] = {
        {ECB, 128, COUNT, "", FIPS, "69c4e0d86a7b0430d8cdb78070b4c55a"},
        {ECB, 256, COUNT "101112131415161718191a1b1c1d1e1f", "", FIPS,
         "8ea2b7ca516745bfeafc49904b496089"},
        {CBC, 128, KEY128, COUNT, TEXT,
         "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2"},
        {CBC, 256, KEY256, COUNT, TEXT,
         "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d"},
        {CTR, 128, KEY128, "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", TEXT,
         "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff"},
        {CTR, 256, KEY256, "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", TEXT,
         "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5"},
    };

    for (unsigned i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
        if (!right(t, &answers[i]))
            return false;
    return true;
}

int main(int argc, char **argv)
{
    struct wl_args a = wl_args(&program, argc, argv);
    struct wl_rng r = wl_rng(a.seed, 0);
    struct tables *t = wl_alloc(sizeof(*t));
    uint8_t *pool = wl_alloc(POOL);
    bool passed = true;
    uint64_t sum;

    for (unsigned i = 0; i < POOL; i++)
        pool[i] = (uint8_t)wl_random(&r);
    make_tables(t);
    sum = run(t, &a, pool, &passed);
    if (a.check)
        passed = known_answers(t) && passed;
    free(pool);
    free(t);
    return wl_finish(&program, &a, sum, passed);
}
