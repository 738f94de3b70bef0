/* SPDX-License-Identifier: MIT */
/* The program that interp runs, in its language and, to compare, in C.
 *
 * All values are 64 bits. x[i] is the word i after address x of the heap; a variable belongs to the
 * whole function from its first mention; new(n) gives n zeroes, release(m) takes back everything
 * allocated since m = mark(); emit(x) adds x to the checksum.
 */
#ifndef INTERP_H
#define INTERP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "common/wl.h"

static const char source[] =
    "fn random(g, n) {"
    "  var x = g[0]; x = x ^ x << 13; x = x ^ x >> 7; x = x ^ x << 17; g[0] = x;"
    "  return (x >> 33) % n; }"
    "fn sieve(n) {"
    "  var a = new(n + 1); var i = 2; var sum = 0;"
    "  while (i <= n) {"
    "    if (!a[i]) { sum = sum * 3 + i; var j = i * i; while (j <= n) { a[j] = 1; j = j + i; } }"
    "    i = i + 1; }"
    "  return sum; }"
    "fn place(row, k, holes, columns, left, right) {"
    "  if (row == k) { return 1; }"
    "  var free = ((1 << k) - 1) & ~(columns | left | right | holes[row]); var n = 0;"
    "  while (free) {"
    "    var bit = free & -free; free = free ^ bit;"
    "    n = n + place(row + 1, k, holes, columns | bit, (left | bit) << 1, (right | bit) >> 1); }"
    "  return n; }"
    "fn queens(g, k) {"
    "  var holes = new(k); var i = 0;"
    "  while (i < k) { holes[random(g, k)] = 1 << random(g, k); i = i + 2; }"
    "  return place(0, k, holes, 0, 0, 0); }"
    "fn fill(g, n, limit) {"
    "  var a = new(n); var i = 0;"
    "  while (i < n) { a[i] = random(g, limit); i = i + 1; }"
    "  return a; }"
    "fn matrix(g, k) {"
    "  var a = fill(g, k * k, 1000); var b = fill(g, k * k, 1000); var sum = 0; var i = 0;"
    "  while (i < k) { var j = 0; while (j < k) {"
    "    var dot = 0; var l = 0;"
    "    while (l < k) { dot = dot + a[i * k + l] * b[l * k + j]; l = l + 1; }"
    "    sum = sum * 31 + dot % 10007; j = j + 1; }"
    "    i = i + 1; }"
    "  return sum; }"
    "fn quicksort(a, low, high) {"
    "  while (low < high) {"
    "    var p = a[(low + high) / 2]; var i = low; var j = high;"
    "    while (i <= j) {"
    "      while (a[i] < p) { i = i + 1; } while (p < a[j]) { j = j - 1; }"
    "      if (i <= j) { var t = a[i]; a[i] = a[j]; a[j] = t; i = i + 1; j = j - 1; } }"
    "    if (j - low < high - i) { quicksort(a, low, j); low = i; }"
    "    else { quicksort(a, i, high); high = j; } }"
    "  return 0; }"
    "fn sorted(g, n) {"
    "  var a = fill(g, n, n * 4); var sum = 0; var i = 0; quicksort(a, 0, n - 1);"
    "  while (i < n) { sum = sum * 31 + a[i]; i = i + 1; }"
    "  return sum; }"
    "fn text(g, n) {"
    "  var s = new(n + 1); var i = 0;"
    "  while (i < n) {"
    "    if (random(g, 4)) { s[i] = 97 + random(g, 3); } else { s[i] = 32; } i = i + 1; }"
    "  s[n] = 32; return s; }"
    "fn palindrome(s, i, j) {"
    "  while (i < j) { if (s[i] != s[j]) { return 0; } i = i + 1; j = j - 1; }"
    "  return 1; }"
    "fn words(g, n) {"
    "  var s = text(g, n); var keys = new(1024); var counts = new(1024);"
    "  var i = 0; var start = 0; var hash = 1; var sum = 0;"
    "  while (i <= n) {"
    "    if (s[i] != 32) { hash = (hash * 37 + s[i]) % 1000003; }"
    "    else {"
    "      if (start < i) {"
    "        var h = hash & 1023;"
    "        while (counts[h] != 0 & keys[h] != hash) { h = h + 1 & 1023; }"
    "        keys[h] = hash; counts[h] = counts[h] + 1;"
    "        sum = sum + counts[h] * hash + palindrome(s, start, i - 1); }"
    "      start = i + 1; hash = 1; }"
    "    i = i + 1; }"
    "  return sum; }"
    "fn main(rounds, seed) {"
    "  var g = new(1); var r = 0; g[0] = seed;"
    "  emit(sieve(rounds * 16 + 100));"
    "  while (r < rounds) {"
    "    var m = mark();"
    "    emit(queens(g, 5 + random(g, 2))); emit(matrix(g, 4 + random(g, 5)));"
    "    emit(words(g, 100 + random(g, 200))); emit(sorted(g, 40 + random(g, 60)));"
    "    release(m); r = r + 1; }"
    "  return r; }";

/* The words that a run with this many rounds may have on its heap at once. */
static inline size_t heap_words(uint64_t rounds)
{
    return rounds * 16 + 4096;
}

/* ---- the same in C --------------------------------------------------------------------------- */

static inline uint64_t native_random(uint64_t *g, uint64_t n)
{
    *g ^= *g << 13;
    *g ^= *g >> 7;
    *g ^= *g << 17;
    return (*g >> 33) % n;
}

static inline uint64_t native_sieve(uint64_t n)
{
    bool *composite = wl_alloc(n + 1);
    uint64_t sum = 0;

    for (uint64_t i = 2; i <= n; i++) {
        if (composite[i])
            continue;
        sum = sum * 3 + i;
        for (uint64_t j = i * i; j <= n; j += i)
            composite[j] = true;
    }
    free(composite);
    return sum;
}

/* Tries every square of every row, without the bit masks. */
static inline uint64_t native_place(int row, int k, const uint64_t *holes, int *column)
{
    uint64_t n = 0;

    for (int x = 0; x < k; x++) {
        bool safe = !(holes[row] >> x & 1);

        for (int y = 0; y < row; y++)
            safe &= column[y] != x && abs(column[y] - x) != row - y;
        column[row] = x;
        if (safe)
            n += row + 1 == k ? 1 : native_place(row + 1, k, holes, column);
    }
    return n;
}

static inline uint64_t native_queens(uint64_t *g, uint64_t k)
{
    uint64_t holes[16] = {0}, bit, row;
    int column[16];

    for (uint64_t i = 0; i < k; i += 2) {
        row = native_random(g, k);
        bit = native_random(g, k);
        holes[row] = UINT64_C(1) << bit;
    }
    return native_place(0, (int)k, holes, column);
}

static inline uint64_t native_matrix(uint64_t *g, uint64_t k)
{
    uint64_t a[16][16], b[16][16], sum = 0, dot;

    for (uint64_t i = 0; i < k * k; i++)
        a[i / k][i % k] = native_random(g, 1000);
    for (uint64_t i = 0; i < k * k; i++)
        b[i / k][i % k] = native_random(g, 1000);
    for (uint64_t i = 0; i < k; i++)
        for (uint64_t j = 0; j < k; j++) {
            dot = 0;
            for (uint64_t l = 0; l < k; l++)
                dot += a[i][l] * b[l][j];
            sum = sum * 31 + dot % 10007;
        }
    return sum;
}

/* A linear search where the interpreted program has a hash table. */
static inline uint64_t native_words(uint64_t *g, uint64_t n)
{
    uint64_t seen[512], counts[512], used = 0, sum = 0, hash, w, i, j, end;
    char s[512];

    for (i = 0; i < n; i++)
        s[i] = native_random(g, 4) ? (char)('a' + native_random(g, 3)) : ' ';
    for (i = 0; i < n; i = end + 1) {
        hash = 1;
        for (end = i; end < n && s[end] != ' '; end++)
            hash = (hash * 37 + (uint64_t)s[end]) % 1000003;
        if (end == i)
            continue;
        for (w = 0; w < used && seen[w] != hash; w++)
            ;
        if (w == used) {
            seen[used] = hash;
            counts[used++] = 0;
        }
        for (j = i; j < end && s[j] == s[i + end - 1 - j]; j++)
            ;
        sum += ++counts[w] * hash + (j == end);
    }
    return sum;
}

static inline uint64_t native_sorted(uint64_t *g, uint64_t n)
{
    uint64_t a[128], sum = 0, x, j;

    for (uint64_t i = 0; i < n; i++) {
        x = native_random(g, n * 4);
        for (j = i; j > 0 && a[j - 1] > x; j--)
            a[j] = a[j - 1];
        a[j] = x;
    }
    for (uint64_t i = 0; i < n; i++)
        sum = sum * 31 + a[i];
    return sum;
}

static inline uint64_t native_main(uint64_t rounds, uint64_t seed)
{
    uint64_t g = seed, sum = wl_sum(0, native_sieve(rounds * 16 + 100));

    for (uint64_t r = 0; r < rounds; r++) {
        sum = wl_sum(sum, native_queens(&g, 5 + native_random(&g, 2)));
        sum = wl_sum(sum, native_matrix(&g, 4 + native_random(&g, 5)));
        sum = wl_sum(sum, native_words(&g, 100 + native_random(&g, 200)));
        sum = wl_sum(sum, native_sorted(&g, 40 + native_random(&g, 60)));
    }
    return sum;
}

#endif
