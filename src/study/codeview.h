/* SPDX-License-Identifier: MIT */
/* The code of a run as data-address techniques see it (technique/address.h). */
#ifndef STUDY_CODEVIEW_H
#define STUDY_CODEVIEW_H

#include "isa/set.h"
#include "replay/text.h"
#include "technique/address.h"

/* The text is indexed, and outlives the code. */
struct vs_address_code vs_code_of_text(const struct vs_text *text, const struct vs_isa *isa);

#endif
