/* SPDX-License-Identifier: MIT */
#include "front/suggest.h"

#include <string.h>

enum { LONGEST = 32 };

void suggest_init(struct suggest *s, const char *word)
{
    *s = (struct suggest){.word = word, .distance = strlen(word) < 4 ? 2 : 3};
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Counts insertions, deletions, substitutions and swaps of neighbours. */
static unsigned distance(const char *a, size_t na, const char *b, size_t nb)
{
    unsigned d[LONGEST + 1][LONGEST + 1];
    for (unsigned i = 0; i <= na; i++)
        d[i][0] = i;
    for (unsigned j = 0; j <= nb; j++)
        d[0][j] = j;
    for (size_t i = 1; i <= na; i++) {
        for (size_t j = 1; j <= nb; j++) {
            unsigned v = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            v = least(v, least(d[i - 1][j], d[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                v = least(v, d[i - 2][j - 2] + 1);
            d[i][j] = v;
        }
    }
    return d[na][nb];
}

void suggest_offer(struct suggest *s, const char *candidate)
{
    size_t na = strlen(s->word), nb = strlen(candidate);
    if (na > LONGEST || nb > LONGEST)
        return;
    unsigned d = distance(s->word, na, candidate, nb);
    if (d < s->distance && d < nb) {
        s->distance = d;
        s->best = candidate;
    }
}
