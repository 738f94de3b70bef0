/* SPDX-License-Identifier: MIT */
#include "technique/groups.h"

enum { GROUP_MORE = 0, GROUP_LAST = 3, GROUP_HEADER = 2 };

void vs_groups_put(struct vs_port_writer *port, enum vs_field f, unsigned group, uint64_t v)
{
    bool last;
    do {
        uint64_t rest = group < 64 ? v >> group : 0;
        last = !rest;
        vs_port_put(port, f, last ? GROUP_LAST : GROUP_MORE, GROUP_HEADER);
        vs_port_put(port, f, v, group);
        v = rest;
    } while (!last);
}

int vs_groups_get(struct vs_port_reader *port, enum vs_field f, unsigned group, unsigned width,
                  uint64_t *v)
{
    uint64_t header, bits, sum = 0;
    unsigned at = 0;
    do {
        int err = vs_port_get(port, f, GROUP_HEADER, &header);
        if (!err)
            err = vs_port_get(port, f, group, &bits);
        if (err)
            return err;
        if (header != GROUP_LAST && header != GROUP_MORE)
            return vs_port_refuse(port, f, "no such header of a group");
        if (at && header == GROUP_LAST && !bits)
            return vs_port_refuse(port, f, "a group of leading zeros");
        if (at >= width || vs_bit_length(bits) > width - at)
            return vs_port_refuse(port, f, "wider than an address");
        sum |= bits << at;
        at += group;
    } while (header != GROUP_LAST);
    *v = sum;
    return 0;
}
