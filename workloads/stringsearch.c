/* SPDX-License-Identifier: MIT */
/* Finds words in generated English-like text: each of a set of patterns by four algorithms (naive,
 * Knuth-Morris-Pratt, Boyer-Moore-Horspool, Rabin-Karp), all of them at once by an Aho-Corasick
 * automaton, and regular expressions line by line by backtracking. The algorithms are called
 * through a table; the regular expressions are matched by recursion. */
#include <stdlib.h>
#include <string.h>

#include "common/wl.h"

#define PATTERNS  10
#define LONGEST   24
#define LETTERS   128
#define WORDS     500
#define WORD      20
#define NODES_MAX (PATTERNS * LONGEST + 1)
#define ITEMS     32

static const struct wl_program program = {
    .name = "stringsearch",
    .about = "string and regular expression search by several algorithms",
    .size = "length of the text in units of 1024 characters",
    .size_default = 2,
    .size_min = 1,
    .size_max = 1u << 20,
    .threads_max = 1,
};

struct text {
    char *at;
    size_t length;
};

struct pattern {
    char at[LONGEST];
    size_t length;
};

struct found {
    uint64_t count, sum;
};

static void report(struct found *f, size_t position)
{
    f->count++;
    f->sum = wl_sum(f->sum, position);
}

/* ---- the text -------------------------------------------------------------------------------- */

static void make_word(struct wl_rng *r, char *word)
{
    static const char *const onset[] = {"b",  "c", "d",  "f", "g",  "h",  "l",  "m",
                                        "n",  "p", "r",  "s", "t",  "th", "st", "tr",
                                        "pl", "w", "sh", "",  "ch", "v"};
    static const char *const nucleus[] = {"a", "e", "i", "o", "u", "ea", "ou", "e", "a", "i"};
    static const char *const coda[] = {"", "", "n", "r", "t", "s", "nd", "ll", "ng", "st", ""};
    unsigned syllables = 1 + (unsigned)wl_below(r, 3);

    word[0] = 0;
    for (unsigned i = 0; i < syllables; i++) {
        strcat(word, onset[wl_below(r, sizeof(onset) / sizeof(*onset))]);
        strcat(word, nucleus[wl_below(r, sizeof(nucleus) / sizeof(*nucleus))]);
        if (i + 1 == syllables)
            strcat(word, coda[wl_below(r, sizeof(coda) / sizeof(*coda))]);
    }
    if (wl_below(r, 6) == 0)
        strcat(word, "ing");
}

/* Few words often and many seldom, as in a language: the square of a uniform number chooses. */
static const char *choose(struct wl_rng *r, char (*words)[WORD])
{
    static const char *const common[] = {"the", "of", "and", "to", "a", "in", "that", "is"};
    double u = wl_uniform(r);

    if (wl_below(r, 3) == 0)
        return common[(size_t)(u * u * (sizeof(common) / sizeof(*common)))];
    return words[(size_t)(u * u * WORDS)];
}

static void make_text(struct text *t, uint64_t seed)
{
    struct wl_rng r = wl_rng(seed, 0);
    char(*words)[WORD] = wl_alloc(WORDS * sizeof(*words));
    size_t column = 0, at = 0;
    bool capital = true;

    for (unsigned i = 0; i < WORDS; i++)
        make_word(&r, words[i]);
    while (at + WORD + 2 < t->length) {
        const char *w = choose(&r, words);
        size_t n = strlen(w);

        memcpy(t->at + at, w, n);
        if (capital)
            t->at[at] = (char)(t->at[at] - 'a' + 'A');
        capital = wl_below(&r, 11) == 0;
        at += n;
        if (capital || wl_below(&r, 9) == 0)
            t->at[at++] = capital ? '.' : ',';
        column = column + n > 60 ? 0 : column + n + 1;
        t->at[at++] = column ? ' ' : '\n';
    }
    memset(t->at + at, '\n', t->length - at);
    free(words);
}

/* Pieces of the text; every other one with a letter changed, so that it is rare or absent. The last
 * is a piece of the first. */
static void make_patterns(struct pattern *p, const struct text *t, uint64_t seed)
{
    struct wl_rng r = wl_rng(seed, 1);
    uint64_t at;

    for (unsigned i = 0; i < PATTERNS; i++) {
        p[i].length = 3 + (size_t)wl_below(&r, i % 3 ? 6 : LONGEST - 3);
        memcpy(p[i].at, t->at + wl_below(&r, t->length - LONGEST), p[i].length);
        at = wl_below(&r, p[i].length);
        if (i % 2)
            p[i].at[at] = (char)('a' + wl_below(&r, 26));
    }
    p[PATTERNS - 1].length = p[0].length / 2 + 1;
    memcpy(p[PATTERNS - 1].at, p[0].at + 1, p[PATTERNS - 1].length);
}

/* ---- one pattern ----------------------------------------------------------------------------- */

static void naive(const struct text *t, const struct pattern *p, struct found *f)
{
    for (size_t i = 0; i + p->length <= t->length; i++) {
        size_t j = 0;

        while (j < p->length && t->at[i + j] == p->at[j])
            j++;
        if (j == p->length)
            report(f, i);
    }
}

static void knuth_morris_pratt(const struct text *t, const struct pattern *p, struct found *f)
{
    size_t border[LONGEST + 1] = {0}, k = 0;

    for (size_t i = 1; i < p->length; i++) {
        while (k && p->at[i] != p->at[k])
            k = border[k];
        k += p->at[i] == p->at[k];
        border[i + 1] = k;
    }
    k = 0;
    for (size_t i = 0; i < t->length; i++) {
        while (k && t->at[i] != p->at[k])
            k = border[k];
        k += t->at[i] == p->at[k];
        if (k == p->length) {
            report(f, i + 1 - k);
            k = border[k];
        }
    }
}

static void horspool(const struct text *t, const struct pattern *p, struct found *f)
{
    size_t shift[LETTERS], last = p->length - 1;

    for (unsigned c = 0; c < LETTERS; c++)
        shift[c] = p->length;
    for (size_t i = 0; i < last; i++)
        shift[(unsigned char)p->at[i]] = last - i;
    for (size_t i = 0; i + p->length <= t->length;) {
        size_t j = last;

        while (t->at[i + j] == p->at[j] && j > 0)
            j--;
        if (j == 0 && t->at[i] == p->at[0])
            report(f, i);
        i += shift[(unsigned char)t->at[i + last]];
    }
}

#define RADIX   131u
#define MODULUS 16381u /* small, so that some hashes agree by chance */

static void rabin_karp(const struct text *t, const struct pattern *p, struct found *f)
{
    uint32_t wanted = 0, have = 0, high = 1;

    for (size_t i = 0; i < p->length; i++) {
        wanted = (wanted * RADIX + (unsigned char)p->at[i]) % MODULUS;
        have = (have * RADIX + (unsigned char)t->at[i]) % MODULUS;
        high = i ? high * RADIX % MODULUS : high;
    }
    for (size_t i = 0;; i++) {
        if (have == wanted && memcmp(t->at + i, p->at, p->length) == 0)
            report(f, i);
        if (i + p->length == t->length)
            return;
        have += MODULUS - (unsigned char)t->at[i] * high % MODULUS;
        have = (have * RADIX + (unsigned char)t->at[i + p->length]) % MODULUS;
    }
}

static void (*const algorithms[])(const struct text *, const struct pattern *, struct found *) = {
    naive, knuth_morris_pratt, horspool, rabin_karp};

#define ALGORITHMS (sizeof(algorithms) / sizeof(algorithms[0]))

/* ---- all patterns at once -------------------------------------------------------------------- */

struct node {
    uint16_t next[LETTERS];
    uint16_t fallback;
    uint16_t shorter; /* the nearest node on the way of fallbacks where a pattern ends, or 0 */
    uint16_t ends;    /* the patterns that end here, a bit each */
};

static void build_trie(struct node *nodes, const struct pattern *p)
{
    unsigned used = 1;

    for (unsigned i = 0; i < PATTERNS; i++) {
        unsigned at = 0;

        for (size_t j = 0; j < p[i].length; j++) {
            uint16_t *next = &nodes[at].next[(unsigned char)p[i].at[j]];

            if (*next == 0)
                *next = (uint16_t)used++;
            at = *next;
        }
        nodes[at].ends = (uint16_t)(nodes[at].ends | 1u << i);
    }
}

/* Fills in, breadth first, where to go on after a mismatch. */
static void link_trie(struct node *nodes)
{
    uint16_t queue[NODES_MAX];
    unsigned head = 0, tail = 0;

    for (unsigned c = 0; c < LETTERS; c++)
        if (nodes[0].next[c])
            queue[tail++] = nodes[0].next[c];
    while (head < tail) {
        struct node *n = &nodes[queue[head++]];
        const struct node *back = &nodes[n->fallback];

        n->shorter = back->ends ? n->fallback : back->shorter;
        for (unsigned c = 0; c < LETTERS; c++) {
            if (n->next[c] == 0) {
                n->next[c] = back->next[c];
            } else {
                nodes[n->next[c]].fallback = back->next[c];
                queue[tail++] = n->next[c];
            }
        }
    }
}

static void aho_corasick(const struct text *t, const struct pattern *p, struct found *f)
{
    struct node *nodes = wl_alloc(NODES_MAX * sizeof(*nodes));
    unsigned state = 0;

    build_trie(nodes, p);
    link_trie(nodes);
    for (size_t i = 0; i < t->length; i++) {
        state = nodes[state].next[(unsigned char)t->at[i]];
        for (unsigned s = state; s; s = nodes[s].shorter)
            for (unsigned ends = nodes[s].ends; ends; ends &= ends - 1) {
                unsigned which = (unsigned)__builtin_ctz(ends);

                report(&f[which], i + 1 - p[which].length);
            }
    }
    free(nodes);
}

/* ---- regular expressions --------------------------------------------------------------------- */

/* A set of characters, once or as *, + and ? say. */
struct item {
    uint64_t set[2];
    bool optional, repeated;
};

struct regex {
    struct item items[ITEMS];
    unsigned n;
    bool from_start, to_end;
};

static bool in_set(const struct item *i, char c)
{
    return i->set[(unsigned char)c >> 6] >> (c & 63) & 1;
}

static void include(struct item *i, unsigned first, unsigned last)
{
    for (unsigned c = first; c <= last; c++)
        i->set[c >> 6] |= UINT64_C(1) << (c & 63);
}

/* Reads [abc], [a-z], [^...]. Returns what follows it. */
static const char *parse_class(struct item *item, const char *s)
{
    bool negated = *++s == '^';

    for (s += negated; *s != ']'; s++) {
        bool range = s[1] == '-' && s[2] != ']';

        include(item, (unsigned char)s[0], (unsigned char)s[range ? 2 : 0]);
        s += range ? 2 : 0;
    }
    if (negated) {
        item->set[0] = ~item->set[0];
        item->set[1] = ~item->set[1];
    }
    return s + 1;
}

static void parse(struct regex *r, const char *s)
{
    *r = (struct regex){.from_start = *s == '^'};
    s += r->from_start;
    while (*s && !(s[0] == '$' && s[1] == 0)) {
        struct item *item = &r->items[r->n++];

        if (*s == '[') {
            s = parse_class(item, s);
        } else {
            bool any = *s == '.';

            s += *s == '\\';
            include(item, any ? 0 : (unsigned char)*s, any ? LETTERS - 1 : (unsigned char)*s);
            s++;
        }
        item->optional = *s == '*' || *s == '?';
        item->repeated = *s == '*' || *s == '+';
        s += item->optional || item->repeated;
    }
    r->to_end = *s == '$';
}

/* Where the match of items from i on at s ends: as much as possible first, then less. */
static const char *match(const struct regex *r, unsigned i, const char *s, const char *end)
{
    const struct item *item = &r->items[i];
    const char *most = s, *least = s + !item->optional, *m = NULL;

    if (i == r->n)
        return r->to_end && s != end ? NULL : s;
    while (most < end && in_set(item, *most) && (most == s || item->repeated))
        most++;
    for (; most >= least && !m; most--)
        m = match(r, i + 1, most, end);
    return m;
}

/* Whether a match from s can end at `at`, by following all ways at once, for the check: bit i of
 * the set says that the items before i are done. at NULL: whether it can end anywhere. */
static bool reachable(const struct regex *r, const char *s, const char *end, const char *at)
{
    uint64_t set = 1, next;

    for (;; s++) {
        for (unsigned i = 0; i < r->n; i++)
            if (set >> i & 1 && r->items[i].optional)
                set |= UINT64_C(2) << i;
        if (set >> r->n & 1 && (at ? s == at : !r->to_end || s == end))
            return true;
        if (s == end)
            return false;
        next = 0;
        for (unsigned i = 0; i < r->n; i++)
            if (set >> i & 1 && in_set(&r->items[i], *s))
                next |= (UINT64_C(2) | r->items[i].repeated) << i;
        set = next;
    }
}

static void search_line(const struct regex *r, const char *line, const char *end, struct found *f,
                        bool *passed)
{
    for (const char *s = line; s <= end; s++) {
        const char *m = match(r, 0, s, end);

        if (passed && (m ? !reachable(r, s, end, m) : reachable(r, s, end, NULL)))
            *passed = false;
        if (m) {
            report(f, (size_t)(s - line));
            report(f, (size_t)(m - s));
            if (m > s)
                s = m - 1;
        }
        if (r->from_start)
            return;
    }
}

static const char *const expressions[] = {
    "[A-Z][a-z]*ing",    "th[a-z]* .*t[a-z]*,", "[aeiou]+[^aeiou ]?[aeiou]+s",
    "^[^,]*, [a-z]+ of", "[a-z]+st[a-z]*$",     "e[a-z]+ [a-z]*t\\.",
};

#define EXPRESSIONS (sizeof(expressions) / sizeof(expressions[0]))

static uint64_t search_lines(const struct text *t, bool *passed)
{
    struct found f = {0, 0};
    struct regex r;

    for (unsigned e = 0; e < EXPRESSIONS; e++) {
        const char *line = t->at, *limit = t->at + t->length;

        parse(&r, expressions[e]);
        while (line < limit) {
            const char *end = memchr(line, '\n', (size_t)(limit - line));

            search_line(&r, line, end, &f, passed);
            line = end + 1;
        }
        f.sum = wl_sum(f.sum, f.count);
    }
    return f.sum;
}

int main(int argc, char **argv)
{
    struct wl_args a = wl_args(&program, argc, argv);
    struct text t = {wl_alloc(a.size * 1024), a.size * 1024};
    struct found one[ALGORITHMS][PATTERNS] = {0}, all[PATTERNS] = {0};
    struct pattern p[PATTERNS];
    bool passed = true;
    uint64_t sum = 0;

    make_text(&t, a.seed);
    make_patterns(p, &t, a.seed);
    for (unsigned i = 0; i < PATTERNS; i++)
        for (unsigned j = 0; j < ALGORITHMS; j++)
            algorithms[j](&t, &p[i], &one[j][i]);
    aho_corasick(&t, p, all);
    for (unsigned i = 0; i < PATTERNS; i++)
        sum = wl_sum(wl_sum(sum, all[i].count), all[i].sum);
    sum = wl_sum(sum, search_lines(&t, a.check ? &passed : NULL));
    for (unsigned j = 0; j < ALGORITHMS && a.check; j++)
        if (memcmp(one[j], all, sizeof(all)) != 0)
            passed = false;
    free(t.at);
    return wl_finish(&program, &a, sum, passed);
}
