/* SPDX-License-Identifier: MIT */
#include "vestige/error.h"

#include <stddef.h>

static const struct error {
    const char *name, *text;
} errors[] = {
    [VSE_OK] = {"VSE_OK", "success"},
    [VSE_INVAL] = {"VSE_INVAL", "invalid argument"},
    [VSE_INTERNAL] = {"VSE_INTERNAL", "internal error"},
    [VSE_NOMEM] = {"VSE_NOMEM", "out of memory"},
    [VSE_IO] = {"VSE_IO", "input/output error"},
    [VSE_EXISTS] = {"VSE_EXISTS", "already exists"},
    [VSE_END] = {"VSE_END", "end of data"},
    [VSE_NOTFOUND] = {"VSE_NOTFOUND", "not found"},
    [VSE_FORMAT] = {"VSE_FORMAT", "not this kind of file"},
    [VSE_VERSION] = {"VSE_VERSION", "unsupported version"},
    [VSE_FEATURE] = {"VSE_FEATURE", "unsupported feature"},
    [VSE_CHECKSUM] = {"VSE_CHECKSUM", "checksum mismatch"},
    [VSE_TRUNCATED] = {"VSE_TRUNCATED", "truncated data"},
    [VSE_CORRUPT] = {"VSE_CORRUPT", "corrupt data"},
    [VSE_LIMIT] = {"VSE_LIMIT", "limit exceeded"},
};

/* NULL if the number is not an error. */
static const struct error *find(int error)
{
    size_t n = error < 0 ? 0 - (size_t)error : (size_t)error;
    return n < sizeof(errors) / sizeof(errors[0]) && errors[n].name ? &errors[n] : NULL;
}

const char *vs_errstr(int error)
{
    const struct error *e = find(error);
    return e ? e->text : "unknown error";
}

const char *vs_errname(int error)
{
    const struct error *e = find(error);
    return e ? e->name : "VSE_UNKNOWN";
}

#define TEXT(x)                     #x
#define DOTTED(major, minor, patch) TEXT(major) "." TEXT(minor) "." TEXT(patch)

const char *vs_version(void)
{
    return DOTTED(VS_VERSION_MAJOR, VS_VERSION_MINOR, VS_VERSION_PATCH);
}
