/* SPDX-License-Identifier: MIT */
#include "engine/engine.h"

#include <stdlib.h>

void vs_engine_result_fini(struct vs_engine_result *result)
{
    free(result->details);
    result->details = NULL;
    free(result->command);
    result->command = NULL;
    result->command_size = 0;
}
