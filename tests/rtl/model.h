/* SPDX-License-Identifier: MIT */
/* What the sources of steps use of each other and of the model. */
#ifndef RTL_MODEL_H
#define RTL_MODEL_H

#include "rtl/golden.h"
#include "technique/technique.h"

__attribute__((noreturn, format(printf, 1, 2))) void rtl_give_up(const char *format, ...);
/* Gives up if there is no memory. */
void *rtl_checked(void *p);

/* What an encoder may know of the run. */
struct rtl_around {
    unsigned address_bits;
    const struct vs_address_code *code;
    const struct vs_prior *prior;
    const struct vs_code_pages *code_pages;
};

struct rtl_model *rtl_model_open_around(const char *spec, unsigned cores, bool timed,
                                        const struct rtl_around *around);
void rtl_model_events(struct rtl_model *m, const struct vs_batch *batch);

#endif
