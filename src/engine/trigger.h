/* SPDX-License-Identifier: MIT */
/* What ends a recording of the last instructions early, begins another recording, or decides
 * whether a run is kept. */
#ifndef ENGINE_TRIGGER_H
#define ENGINE_TRIGGER_H

#include "vestige/error.h"

enum vs_trigger_kind {
    VS_TRIGGER_NONE,
    VS_TRIGGER_SIGNAL,  /* the program gets the signal `number` */
    VS_TRIGGER_EXIT,    /* it ends with status `number`; 128 + N if signal N ends it */
    VS_TRIGGER_NONZERO, /* it ends with any status but 0 */
    VS_TRIGGER_ROUTINE, /* the routine, or address, `name` is reached */
    VS_TRIGGER_TIME,    /* `seconds` have passed */
};

struct vs_trigger {
    enum vs_trigger_kind kind;
    int number;
    double seconds;
    const char *name; /* a part of the text */
};

/* Understands signal:NAME, exit:STATUS, exit:nonzero, routine:NAME and time:SECONDS. Returns 0;
 * -VSE_INVAL, with diag. */
int vs_trigger_parse(struct vs_trigger *t, const char *text, struct vs_diag *diag);

#endif
