/* SPDX-License-Identifier: MIT */
#include "isa/rv64/iss.h"

const struct vs_cpu_ops vs_rv64_cpu = {
    .size = sizeof(struct vs_hart),
    .saved = sizeof(struct vs_hart_copy),
    .code_new = vs_code_new,
    .code_free = vs_code_free,
    .flush = vs_code_flush,
    .init = vs_hart_init,
    .run = vs_rv64_run,
    .run_observed = vs_rv64_run_observed,
    .get = vs_hart_get,
    .set = vs_hart_set,
    .forget_page = vs_hart_forget_page,
    .save = vs_hart_save,
    .restore = vs_hart_restore,
};
