/* SPDX-License-Identifier: MIT */
/* OpenCSD, which knows nothing of Vestige, as a reader of ETMv4 streams. */
#ifndef ETM4_PEER_H
#define ETM4_PEER_H

#include <opencsd/c_api/opencsd_c_api.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Bits of TRCCONFIGR. */
enum {
    PEER_BROADCAST = 1 << 3,
    PEER_CYCLES = 1 << 4,
    PEER_CONTEXT = 1 << 6,
    PEER_TIME = 1 << 11,
    PEER_STACK = 1 << 12,
};

/* Makes a tree with a decoder for one stream, or with what only splits it into packets. */
static inline dcd_tree_handle_t peer_open(unsigned config, bool frames, unsigned source, int create)
{
    ocsd_etmv4_cfg registers = {.reg_idr0 = 0x28000EA1, /* 64-bit timestamps, COMMOPT, ... */
                                .reg_idr1 = 0x4100F403, /* version 4.0 */
                                .reg_idr2 = 0x00000488, /* 64-bit addresses, 32-bit context */
                                .reg_configr = config,
                                .reg_traceidr = source,
                                .arch_ver = ARCH_V8,
                                .core_prof = profile_CortexA};
    unsigned char id;
    ocsd_def_errlog_init(OCSD_ERR_SEV_ERROR, 1);
    ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_STDERR, NULL);
    dcd_tree_handle_t tree =
        ocsd_create_dcd_tree(frames ? OCSD_TRC_SRC_FRAME_FORMATTED : OCSD_TRC_SRC_SINGLE,
                             frames ? OCSD_DFRMTR_FRAME_MEM_ALIGN : 0);
    if (!tree ||
        ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_ETMV4I, create, &registers, &id) != OCSD_OK) {
        fprintf(stderr, "OpenCSD makes no decoder\n");
        exit(2);
    }
    return tree;
}

/* Feeds all of a stream. Returns whether OpenCSD took it. */
static inline bool peer_feed(dcd_tree_handle_t tree, const uint8_t *bytes, size_t size)
{
    ocsd_datapath_resp_t answer = OCSD_RESP_CONT;
    uint32_t done = 1;
    for (size_t at = 0; at < size && done && OCSD_DATA_RESP_IS_CONT(answer); at += done)
        answer = ocsd_dt_process_data(tree, OCSD_OP_DATA, at,
                                      size - at < 4096 ? (uint32_t)(size - at) : 4096, bytes + at,
                                      &done);
    if (OCSD_DATA_RESP_IS_CONT(answer))
        answer = ocsd_dt_process_data(tree, OCSD_OP_EOT, 0, 0, NULL, NULL);
    return OCSD_DATA_RESP_IS_CONT(answer);
}

#endif
