/* SPDX-License-Identifier: MIT */
/* Techniques in shared objects. A plugin is compiled with these headers, as installed, and linked
 * with libvestige-technique.a, so that it needs nothing from the program that loads it. Its file
 * ends with
 *
 *     VS_PLUGIN(&vs_technique_mine, &vs_technique_other);
 *
 * What a plugin and its program hand to each other are structs, so both have to be of the same
 * version, and of the same layout: that is compared when the plugin is loaded.
 *
 * C++ may include this header, and none of the others before it. */
#ifndef TECHNIQUE_PLUGIN_H
#define TECHNIQUE_PLUGIN_H

#ifdef __cplusplus
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* The headers are C11's. Where they have an atomic number, only the program uses it. */
#define _Static_assert static_assert
#define _Atomic
extern "C" {
#endif

#include "technique/address.h"
#include "technique/data.h"
#include "technique/registry.h"
#include "technique/technique.h"

#define VS_PLUGIN_VERSION 1 /* changes with what the functions of a technique mean */
#define VS_PLUGIN_NAME    "vestige_plugin"

/* The layout that both sides have to agree on. */
#define VS_PLUGIN_LAYOUT                                                                           \
    {                                                                                              \
        sizeof(struct vs_technique), sizeof(struct vs_technique_setup),                            \
            sizeof(struct vs_technique_context), sizeof(struct vs_slice), sizeof(struct vs_step),  \
            sizeof(struct vs_encoder_ops), sizeof(struct vs_flow_decoder_ops),                     \
            sizeof(struct vs_data_decoder_ops), sizeof(struct vs_address_decoder_ops),             \
            sizeof(struct vs_flow_head), sizeof(struct vs_flow_site),                              \
            sizeof(struct vs_flow_answer), sizeof(struct vs_flow_code),                            \
            sizeof(struct vs_port_writer), sizeof(struct vs_port_reader),                          \
            sizeof(struct vs_port_shape), sizeof(struct vs_cost_list),                             \
            sizeof(struct vs_parameter), sizeof(struct vs_count_row), VS_FIELD_END                 \
    }
#define VS_PLUGIN_SIZES 20

/* What a plugin exports. */
struct vs_plugin_object {
    uint32_t version; /* VS_PLUGIN_VERSION; the rest is read only if it is ours */
    uint32_t layout[VS_PLUGIN_SIZES];
    const struct vs_technique *const *techniques; /* NULL ends them */
};

#ifdef __cplusplus
#define VS_PLUGIN_EXPORT extern "C" VS_API const struct vs_plugin_object
}
#undef _Static_assert
#undef _Atomic
#else
#define VS_PLUGIN_EXPORT VS_API const struct vs_plugin_object
#endif

#define VS_PLUGIN(...)                                                                             \
    static const struct vs_technique *const vestige_plugin_techniques[] = {__VA_ARGS__, NULL};     \
    VS_PLUGIN_EXPORT vestige_plugin;                                                               \
    VS_PLUGIN_EXPORT vestige_plugin = {VS_PLUGIN_VERSION, VS_PLUGIN_LAYOUT,                        \
                                       vestige_plugin_techniques}

#endif
