/* SPDX-License-Identifier: MIT */
/* The packets of ETMv4 streams, as OpenCSD reads them: a line for each stream, with the number and
 * a hash of the atoms, of the exceptions and of the addresses, and the last timestamp.
 *
 *   etm4_peer BITS [frames] [twice] [cycles] STREAM...
 *
 * BITS is TRCCONFIGR. "frames" says that CoreSight's formatter carries the stream, and "twice" that
 * addresses are sent times two. With "cycles", the cycle counts have to add up to the timestamps.
 * Addresses at synchronisation points are left out. */
#include <inttypes.h>
#include <string.h>

#include "etm4_peer.h"

struct peer_stream {
    bool twice, cycles;
    bool point; /* after Trace Info: the address is a synchronisation point's */
    bool on;    /* after trace on */
    bool known; /* the cycle */
    uint64_t cycle;
    uint64_t atoms, atom_hash, addresses, address_hash, exceptions, exception_hash, time;
    uint64_t bad;
};

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static bool is_address(unsigned type)
{
    return type >= ETM4_PKT_I_ADDR_CTXT_L_32IS0 && type <= ETM4_PKT_I_ADDR_L_64IS1;
}

static void take_address(struct peer_stream *s, uint64_t address)
{
    if (!s->point || s->on) {
        s->addresses++;
        s->address_hash =
            mix(s->address_hash, s->twice ? (uint64_t)((int64_t)address >> 1) : address);
    }
    s->point = s->on = false;
}

static void take_time(struct peer_stream *s, const ocsd_etmv4_i_pkt *p)
{
    s->time = p->ts.timestamp;
    if (s->cycles && s->known && s->cycle + p->cycle_count != s->time)
        s->bad++;
    s->cycle = s->time - (s->cycles ? p->cycle_count : 0);
    s->known = true;
}

static void take(const void *context, const ocsd_datapath_op_t op, const ocsd_trc_index_t index,
                 const void *packet, const uint32_t size, const uint8_t *bytes)
{
    struct peer_stream *s = (struct peer_stream *)context;
    const ocsd_etmv4_i_pkt *p = packet;
    (void)index;
    if (op != OCSD_OP_DATA)
        return;
    for (unsigned i = 0; i < p->atom.num; i++) {
        s->atoms++;
        s->atom_hash = mix(s->atom_hash, p->atom.En_bits >> i & 1);
    }
    if (is_address(p->type))
        take_address(s, p->v_addr.val);
    switch ((unsigned)p->type) {
    case ETM4_PKT_I_TRACE_INFO:
        s->point = true;
        break;
    case ETM4_PKT_I_TRACE_ON:
        s->on = true;
        s->known = false;
        break;
    case ETM4_PKT_I_EXCEPT:
        s->exceptions++;
        s->exception_hash = mix(s->exception_hash, p->exception_info.exceptionType);
        s->bad += p->exception_info.addr_interp != 1;
        break;
    case ETM4_PKT_I_TIMESTAMP:
        take_time(s, p);
        break;
    case ETM4_PKT_I_CCNT_F1:
    case ETM4_PKT_I_CCNT_F3:
        s->known = s->known && size && bytes[0] != 0x0F;
        s->cycle += p->cycle_count;
        break;
    case ETM4_PKT_I_NOTSYNC:
    case ETM4_PKT_I_INCOMPLETE_EOT:
        s->bad++;
        break;
    default:
        s->bad += p->type >= ETM4_PKT_I_BAD_SEQUENCE;
        break;
    }
}

static int list(const char *path, unsigned config, bool frames, unsigned core, struct peer_stream s)
{
    FILE *f = fopen(path, "rb");
    size_t size = 0;
    uint8_t *bytes = f && !fseek(f, 0, SEEK_END) ? malloc((size_t)ftell(f) + 1) : NULL;
    if (bytes) {
        rewind(f);
        for (size_t n; (n = fread(bytes + size, 1, 1 << 16, f)) > 0;)
            size += n;
    }
    if (!f || !bytes || ferror(f)) {
        fprintf(stderr, "etm4_peer: %s cannot be read\n", path);
        exit(2);
    }
    fclose(f);
    dcd_tree_handle_t tree = peer_open(config, frames, 0x10 + core, OCSD_CREATE_FLG_PACKET_PROC);
    if (ocsd_dt_attach_packet_callback(tree, (unsigned char)(0x10 + core), OCSD_C_API_CB_PKT_MON,
                                       (void *)(uintptr_t)take, &s) != OCSD_OK)
        exit(2);
    bool taken = peer_feed(tree, bytes, size);
    ocsd_destroy_dcd_tree(tree);
    free(bytes);
    printf("%" PRIu64 " %016" PRIx64 " %" PRIu64 " %016" PRIx64 " %" PRIu64 " %016" PRIx64
           " %" PRIu64 "\n",
           s.atoms, s.atom_hash, s.exceptions, s.exception_hash, s.addresses, s.address_hash,
           s.time);
    if (!taken || s.bad)
        fprintf(stderr, "etm4_peer: %s: %s, %" PRIu64 " bad packets\n", path,
                taken ? "read to the end" : "refused", s.bad);
    return taken && !s.bad ? 0 : 1;
}

int main(int argc, char **argv)
{
    struct peer_stream s = {0};
    bool frames = false;
    int status = 0, at = 2;
    for (; at < argc; at++)
        if (!strcmp(argv[at], "frames"))
            frames = true;
        else if (!strcmp(argv[at], "twice"))
            s.twice = true;
        else if (!strcmp(argv[at], "cycles"))
            s.cycles = true;
        else
            break;
    for (int i = at; i < argc; i++)
        status |= list(argv[i], (unsigned)strtoul(argv[1], NULL, 0), frames, (unsigned)(i - at), s);
    return status;
}
