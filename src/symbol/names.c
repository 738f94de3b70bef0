/* SPDX-License-Identifier: MIT */
#include "symbol/names.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

#include "base/diag.h"
#include "symbol/symbol.h"

enum {
    MANGLED_MAX = 2048,  /* libiberty refuses to recurse as deep as longer ones may need */
    READABLE_MAX = 4096, /* a routine whose readable form is longer is not found by it */
    READABLE = DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP,
};

/* ---- copies made by compilers --------------------------------------------------------------- */

static bool is_number(const char *text, size_t size)
{
    size_t digits = 0;

    while (digits < size && isdigit((unsigned char)text[digits]))
        digits++;
    return size > 0 && digits == size;
}

static bool is_copy_word(const char *text, size_t size)
{
    static const char *const words[] = {"cold", "part",     "constprop", "isra",
                                        "llvm", "lto_priv", "localalias"};

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (strlen(words[i]) == size && memcmp(words[i], text, size) == 0)
            return true;
    return false;
}

/* Where the last of the parts that dots separate begins; 0 if there is only one. */
static size_t last_part(const char *name, size_t size)
{
    const char *dot = size ? memrchr(name + 1, '.', size - 1) : NULL;

    return dot ? (size_t)(dot - name) + 1 : 0;
}

/* The length of a name without what a compiler appended for a special or partial copy. Other
 * languages have dots in their names (Go's "main.run"), so only known words are removed, and a
 * number after a name without further dots, which makes C's nested functions unique. */
static size_t base_of(const char *name, size_t size)
{
    size_t part, word;

    while ((part = last_part(name, size)) > 0) {
        if (is_number(name + part, size - part)) {
            word = last_part(name, part - 1);
            if (word > 0 && !is_copy_word(name + word, part - 1 - word))
                break;
            size = (word > 0 ? word : part) - 1;
        } else if (is_copy_word(name + part, size - part)) {
            size = part - 1;
        } else {
            break;
        }
    }
    return size;
}

/* ---- demangling ------------------------------------------------------------------------------ */

struct sink {
    jmp_buf full;
    char *out;
    size_t capacity, length;
};

/* A short name can stand for a text of 2^100 bytes, by referring to its own parts. This jump is the
 * only way to stop libiberty, which holds nothing that would be lost. */
static void take(const char *text, size_t size, void *opaque)
{
    struct sink *s = opaque;
    size_t room = s->capacity - 1 - s->length, n = size < room ? size : room;

    memcpy(s->out + s->length, text, n);
    s->length += n;
    if (n < size)
        longjmp(s->full, 1);
}

static bool run(struct sink *s, const char *mangled, int options)
{
    s->length = 0;
    if (setjmp(s->full))
        return true;
    /* Rust's older names are C++ names with a hash. Its newer ones (_R) are not taken, as libiberty
     * holds memory while it prints them. */
    if (strncmp(mangled, "_ZN", 3) == 0 && rust_demangle_callback(mangled, options, take, s))
        return true;
    s->length = 0;
    return cplus_demangle_v3_callback(mangled, options, take, s);
}

/* Whether the first `size` bytes of name are a C++ name; its readable form is then in out. */
static bool demangle(const char *name, size_t size, int options, char *out, size_t capacity)
{
    char mangled[MANGLED_MAX];
    struct sink s = {.out = out, .capacity = capacity};

    size = base_of(name, size);
    if (strncmp(name, "_Z", 2) != 0 || size >= sizeof(mangled))
        return false;
    memcpy(mangled, name, size);
    mangled[size] = '\0';
    if (!run(&s, mangled, options))
        return false;
    out[s.length] = '\0';
    return true;
}

static size_t append(char *out, size_t capacity, size_t used, const char *text, size_t size)
{
    if (size > capacity - 1 - used)
        size = capacity - 1 - used;
    memcpy(out + used, text, size);
    out[used + size] = '\0';
    return used + size;
}

int vs_symbol_demangle(const char *name, char *out, size_t capacity)
{
    size_t size = strcspn(name, "@"), used;

    if (demangle(name, size, READABLE, out, capacity))
        used = strlen(out);
    else
        used = append(out, capacity, 0, name, base_of(name, size));
    used = append(out, capacity, used, name + size, strlen(name + size));
    vs_oneline(out);
    return (int)used;
}

/* ---- matching -------------------------------------------------------------------------------- */

/* What follows `head` in `text`, ignoring spaces; NULL if the text does not begin with it. */
static const char *skip_head(const char *text, const char *head)
{
    for (;;) {
        text += strspn(text, " ");
        head += strspn(head, " ");
        if (!*head)
            return text;
        if (*text++ != *head++)
            return NULL;
    }
}

static bool matches_readable(const char *name, const char *wanted)
{
    char form[READABLE_MAX];
    size_t size = strlen(name);
    const char *rest;

    if (!demangle(name, size, READABLE, form, sizeof(form)))
        return false;
    rest = skip_head(form, wanted);
    if (!rest || !*rest)
        return rest;
    if (*rest != '(' || !demangle(name, size, DMGL_NO_OPTS, form, sizeof(form)))
        return false;
    rest = skip_head(form, wanted);
    return rest && !*rest;
}

bool vs_name_matches(const char *name, const char *wanted)
{
    size_t base;

    if (!*wanted)
        return false;
    if (strcmp(name, wanted) == 0)
        return true;
    base = base_of(name, strlen(name));
    if (strlen(wanted) == base && memcmp(name, wanted, base) == 0)
        return true;
    return strncmp(name, "_Z", 2) == 0 && strncmp(wanted, "_Z", 2) != 0 &&
           matches_readable(name, wanted);
}
