/* SPDX-License-Identifier: MIT */
/* What a bit at the port is for. Every bit belongs to one field. */
#ifndef PORT_FIELD_H
#define PORT_FIELD_H

enum vs_field {
    VS_FIELD_CORE,    /* Ti: whose message it is */
    VS_FIELD_CYCLES,  /* dCC: cycles since the core's last message */
    VS_FIELD_HEADER,  /* the kind of message */
    VS_FIELD_BCNT,    /* branches since the last message */
    VS_FIELD_ICNT,    /* instructions: iCnt, stream lengths (SL) */
    VS_FIELD_FAHCNT,  /* first-access hits */
    VS_FIELD_OUTCOME, /* taken or not */
    VS_FIELD_TARGET,  /* where control went: targets, handlers, starts of streams */
    VS_FIELD_INDEX,   /* positions in tables that the decoder has too */
    VS_FIELD_RUN,     /* lengths of runs of equal messages */
    VS_FIELD_ADDRESS, /* of operands */
    VS_FIELD_VALUE,   /* of operands */
    VS_FIELD_STATE,   /* registers, and what system calls changed */
    VS_FIELD_ORDER,   /* the order between cores */
    VS_FIELD_SYNC,    /* what lets a decoder begin: full addresses, counts */
    VS_FIELD_PACKED,  /* other fields, compressed */
    VS_FIELD_END
};

/* Returns "Ti", "dCC", "header", "bCnt", ...; "?" for a number that is no field. The string is
 * static. */
const char *vs_field_name(unsigned field);

#endif
