/* SPDX-License-Identifier: MIT */
#include "port/field.h"

const char *vs_field_name(unsigned field)
{
    static const char *const names[VS_FIELD_END] = {
        "Ti",    "dCC", "header",  "bCnt",  "iCnt",  "fahCnt", "outcome", "target",
        "index", "run", "address", "value", "state", "order",  "sync",    "packed"};

    return field < VS_FIELD_END ? names[field] : "?";
}
