/* SPDX-License-Identifier: MIT */
/* The decoder of RISC-V Efficient Trace.
 *
 * A packet with an address does not say whether the core went there by a jump whose target is not
 * in the code, or came by, as the last thing before a trap. What follows does: only an F3 follows
 * the latter. After a packet, the core stands before the instruction that the packet is about,
 * which has retired and may be a branch; its outcome is then known, and its own. */
#include "technique/etrace.h"
#include "technique/flow_common.h"

enum own { NO_OWN, OWN_BIT, OWN_RIGHT, OWN_WRONG, OWN_SYNC };

enum stage {
    READ,         /* the next packet */
    BRANCHES,     /* pass all that the packet has */
    TARGET,       /* go to the jump to the address */
    LANDED,       /* check that what followed a system call is the address */
    OUTCOMES,     /* come to the address: pass the branches, */
    RETURNS,      /* the implicit returns, */
    FIRST,        /* an instruction, if the core has told of the one it stands at, */
    PLACE,        /* and what comes before the address */
    UNSEEN,       /* execute what may be a jump to an address where nothing retired */
    AWAY,         /* go to where nothing retired */
    ARRIVE,       /* go to where a sync packet says */
    RESYNC_FIRST, /* execute what may be a jump to where F3.0 is, */
    RESYNC,       /* and what comes before it */
};

struct core {
    struct vs_etrace_tables tables;
    uint64_t address; /* the last in a packet */
    bool started, alive, lost;
    bool reported; /* a trap was, and where it led to comes next */
    bool unseen;   /* nothing retired where the core is: it goes elsewhere next */

    /* outcomes that are still to come: of the map, then those predicted right, then a wrong one */
    uint64_t map, right;
    unsigned bits;
    bool wrong;
    enum own own;
    bool own_bit; /* of OWN_BIT and OWN_SYNC, as in a map */

    bool stands;    /* before the instruction at `address`, which has retired */
    bool stepped;   /* it has stepped from there */
    bool moved;     /* it has moved since the packet */
    bool issued;    /* the head of this stage was */
    bool stamped;   /* UNSEEN: the packet has a cycle */
    bool arrived;   /* the jump has come */
    bool via;       /* the last packet's address was a jump's target */
    bool addressed; /* the last packet has an address and is no sync packet */
    bool updiscon;  /* it says that an F3 follows */
    unsigned irets;
    enum stage stage;
    uint64_t target; /* of a discontinuity */
    uint64_t synced; /* where the last sync packet was */
    struct vs_etrace_packet packet;
    uint64_t cycle;
};

struct decoder {
    struct vs_etrace_config config;
    struct vs_port_reader *port;
    struct vs_flow_code code;
    unsigned count;
    struct core cores[];
};

static void decoder_close(void *decoder)
{
    struct decoder *d = decoder;
    for (unsigned i = 0; d && i < d->count; i++)
        vs_etrace_tables_fini(&d->cores[i].tables);
    free(d);
}

static int decoder_open(void **out, const void *params, const struct vs_technique_setup *setup,
                        struct vs_port_reader *port)
{
    int err = vs_machine_new(out, sizeof(struct decoder), setup->cores, sizeof(struct core));
    struct decoder *d = *out;
    if (err)
        return err;
    d->config = vs_etrace_config(params, setup);
    d->port = port;
    d->count = setup->cores;
    for (unsigned i = 0; i < d->count && !err; i++)
        err = vs_etrace_tables_init(&d->cores[i].tables, &d->config);
    return vs_machine_opened(out, err, decoder_close);
}

static void decoder_look(void *decoder, const struct vs_flow_code *code)
{
    ((struct decoder *)decoder)->code = *code;
}

/* ---- packets --------------------------------------------------------------------------------- */

static int check_packet(struct decoder *d, const struct vs_etrace_packet *p)
{
    if (!vs_etrace_is_sync(p)) {
        const struct vs_etrace_params *params = &d->config.params;
        if (p->format == 0 && !(p->subformat == VS_ETRACE_INDEX ? params->jtc : params->bpred))
            return vs_port_refuse(d->port, VS_FIELD_HEADER, "an option that is off");
        return 0;
    }
    if (p->subformat == VS_ETRACE_SUPPORT)
        return p->options == d->config.options
                   ? 0
                   : vs_port_refuse(d->port, VS_FIELD_SYNC, "other options");
    if (p->privilege || p->cause || (p->subformat == VS_ETRACE_TRAP && !p->interrupt))
        return vs_port_refuse(d->port, VS_FIELD_SYNC, "a core is only traced in user mode");
    return 0;
}

/* Reads a packet; *stamped is whether it has a cycle. */
static int read_packet(struct decoder *d, struct vs_etrace_packet *p, bool *stamped,
                       uint64_t *cycle)
{
    uint64_t head = 0;
    int err = vs_port_next_packet(d->port);
    if (!err)
        err = vs_port_get(d->port, VS_FIELD_HEADER, 8, &head);
    unsigned bytes = (unsigned)head & VS_ETRACE_BYTES_MAX;
    *stamped = head & VS_ETRACE_EXTEND;
    *cycle = 0;
    if (!err && ((head & 0x60) != d->config.kind || (*stamped && !d->config.timed)))
        err = vs_port_refuse(d->port, VS_FIELD_HEADER, "no packet begins like that");
    if (!err && *stamped)
        err = vs_port_get(d->port, VS_FIELD_CYCLES, VS_ETRACE_TIME_BITS, cycle);
    if (!err)
        err = vs_etrace_get(d->port, &d->config.layout, bytes, p);
    return err ? err : check_packet(d, p);
}

/* Returns whether the next packet is an F3, and not a support packet that says of this one that it
 * would have been sent anyway. */
static bool trap_follows(const struct decoder *d)
{
    enum { SUPPORT = 0x0f, STATUS = 6 };
    uint64_t head = 0, skipped, first = 0;
    if (!vs_port_goes_on(d->port))
        return false;
    struct vs_bitr ahead = d->port->bits;
    vs_bitr_get(&ahead, 8, &head);
    if (head & VS_ETRACE_EXTEND)
        vs_bitr_get(&ahead, VS_ETRACE_TIME_BITS, &skipped);
    vs_bitr_get(&ahead, 8, &first);
    return (first & 3) == 3 &&
           ((first & 0x1f) != SUPPORT || first >> STATUS != VS_ETRACE_ENDED_NTR);
}

static bool can_step(const struct decoder *d, const struct core *c)
{
    return c->stands && !(d->code.begun && d->code.begun(d->code.walk, (unsigned)(c - d->cores)));
}

/* ---- outcomes -------------------------------------------------------------------------------- */

static uint64_t outcomes(const struct core *c)
{
    return c->bits + c->right + c->wrong;
}

/* The address is that of a branch if one outcome is left. */
static void keep_own(struct core *c)
{
    c->own = c->bits ? OWN_BIT : c->right ? OWN_RIGHT : c->wrong ? OWN_WRONG : NO_OWN;
    c->own_bit = c->map & 1;
    c->bits = 0;
    c->right = 0;
    c->wrong = false;
}

static bool predict(struct decoder *d, struct core *c, uint64_t pc)
{
    return d->config.params.bpred && vs_bht_predict(&c->tables.bht, pc);
}

/* The core meets a branch that is not the one it stood at; its own outcome, if there is one, would
 * be lost. */
static int drop_own(struct decoder *d, struct core *c)
{
    bool nothing = c->own == NO_OWN || (c->own == OWN_SYNC && c->own_bit);
    c->own = NO_OWN;
    return nothing ? 0
                   : vs_port_refuse(d->port, VS_FIELD_OUTCOME, "the outcome of what is no branch");
}

static int take_own(struct decoder *d, struct core *c, uint64_t pc, bool *taken)
{
    enum own own = c->own;
    c->own = NO_OWN;
    *taken = own == OWN_RIGHT   ? predict(d, c, pc)
             : own == OWN_WRONG ? !predict(d, c, pc)
                                : !c->own_bit;
    if (own != OWN_SYNC && d->config.params.bpred)
        vs_bht_update(&c->tables.bht, pc, *taken);
    return 0;
}

static int take_outcome(struct decoder *d, struct core *c, uint64_t pc, bool *taken)
{
    int err = drop_own(d, c);
    if (err)
        return err;
    if (c->bits) {
        *taken = !(c->map & 1);
        c->map >>= 1;
        c->bits--;
    } else if (c->right) {
        *taken = predict(d, c, pc);
        c->right--;
    } else if (c->wrong) {
        *taken = !predict(d, c, pc);
        c->wrong = false;
    } else {
        return vs_port_refuse(d->port, VS_FIELD_OUTCOME, "a branch of which no packet tells");
    }
    if (d->config.params.bpred)
        vs_bht_update(&c->tables.bht, pc, *taken);
    return 0;
}

/* ---- branches -------------------------------------------------------------------------------- */

static int conditional(struct decoder *d, struct core *c, const struct vs_flow_site *site,
                       struct vs_flow_answer *answer)
{
    bool own = c->own && site->pc == c->synced;
    int err = own ? take_own(d, c, site->pc, &answer->taken)
                  : take_outcome(d, c, site->pc, &answer->taken);
    if (!err && !own && (c->stage == BRANCHES || c->stage == OUTCOMES) && !outcomes(c)) {
        answer->last = true;
        c->arrived = site->pc == c->address;
    }
    return err;
}

/* Whether the packet's branches have all come, but for the one at its address. */
static bool passed_all(const struct decoder *d, const struct core *c)
{
    uint64_t left = outcomes(c);
    return !left || (left == 1 && d->code.conditional &&
                     d->code.conditional(d->code.walk, (unsigned)(c - d->cores), c->address));
}

/* Whether a return, which the stack predicts, is the one that the packet reports. */
static bool is_reported(const struct decoder *d, struct core *c)
{
    if (c->stage != TARGET || !c->packet.irreport || !passed_all(d, c))
        return false;
    if (!c->irets)
        return true;
    c->irets--;
    return false;
}

static int implicit_return(struct decoder *d, struct core *c, struct vs_flow_answer *answer)
{
    if (c->stage == RETURNS) {
        answer->last = !--c->irets;
    } else if (c->stage == FIRST || c->stage == PLACE || c->stage == RESYNC) {
        return vs_port_refuse(d->port, VS_FIELD_INDEX, "more implicit returns than it tells of");
    }
    return 0;
}

/* A jump whose target only the trace tells. */
static int jump(struct decoder *d, struct core *c, struct vs_flow_answer *answer)
{
    answer->target = c->address;
    answer->last = true;
    c->arrived = true;
    switch (c->stage) {
    case UNSEEN:
    case RESYNC_FIRST:
    case RESYNC:
        return 0;
    case TARGET:
        if (outcomes(c) > 1)
            return vs_port_refuse(d->port, VS_FIELD_OUTCOME, "a jump before all branches");
        if (c->irets)
            return vs_port_refuse(d->port, VS_FIELD_INDEX, "fewer implicit returns");
        return 0;
    default:
        return vs_port_refuse(d->port, VS_FIELD_TARGET, "a jump of which no packet tells");
    }
}

static int indirect(struct decoder *d, struct core *c, const struct vs_flow_site *site,
                    struct vs_flow_answer *answer)
{
    bool is_return = vs_step_returns(site->flags) && d->config.params.implicit_return;
    uint64_t predicted = 0;
    bool any = is_return && vs_ras_pop(&c->tables.ras, &predicted);
    bool at_sync = c->own == OWN_SYNC && site->pc == c->synced;
    int err = drop_own(d, c);
    answer->taken = true;
    if (err)
        return err;
    if (any && (c->stage == UNSEEN || c->stage == RESYNC_FIRST))
        return jump(d, c, answer); /* the next packet tells, even if it was predicted */
    if (any && is_reported(d, c)) {
        if (predicted == c->address)
            return vs_port_refuse(d->port, VS_FIELD_TARGET, "reports what was predicted");
        return jump(d, c, answer);
    }
    if (any) {
        answer->target = predicted;
        return implicit_return(d, c, answer);
    }
    if (site->inferable && d->config.params.sijump && !at_sync) {
        answer->target = site->target;
        return 0;
    }
    if (c->stage == TARGET && c->packet.irreport && !(is_return && c->packet.irets))
        return vs_port_refuse(d->port, VS_FIELD_INDEX, "reports implicit returns before a jump");
    return jump(d, c, answer);
}

static int decoder_branch(void *decoder, unsigned core, const struct vs_flow_site *site,
                          struct vs_flow_answer *answer)
{
    struct decoder *d = decoder;
    struct core *c = &d->cores[core];
    if (likely(!vs_flow_site_indirect(site)))
        return conditional(d, c, site, answer);
    int err = indirect(d, c, site, answer);
    if (!err && vs_step_calls(site->flags))
        vs_ras_push(&c->tables.ras, site->pc + site->size);
    return err;
}

static int decoder_call(void *decoder, unsigned core, uint64_t return_address, uint64_t target)
{
    (void)target;
    vs_ras_push(&((struct decoder *)decoder)->cores[core].tables.ras, return_address);
    return 0;
}

static int decoder_discontinuity(void *decoder, unsigned core, uint64_t *target)
{
    *target = ((struct decoder *)decoder)->cores[core].target;
    return 0;
}

/* ---- heads ----------------------------------------------------------------------------------- */

/* The core executes the instruction that it stands at, if it does. */
static void step(const struct decoder *d, struct core *c, struct vs_flow_head *h)
{
    h->count = can_step(d, c);
    h->cut = true;
    c->stepped = c->stands;
    c->stands = false;
    c->issued = true;
}

static void go_elsewhere(const struct decoder *d, struct core *c, struct vs_flow_head *h,
                         uint64_t target, enum stage stage)
{
    step(d, c, h);
    h->discontinuity = true;
    h->cycle = c->cycle;
    c->target = target;
    c->stage = stage;
}

static void walk_on(const struct decoder *d, struct core *c, struct vs_flow_head *h)
{
    h->count = VS_FLOW_OPEN;
    h->system = d->config.params.ecall == VS_ETRACE_ECALL_JUMP;
    c->moved = c->issued = true;
    c->stands = false;
}

static void enter(struct core *c, enum stage stage)
{
    c->stage = stage;
    c->issued = false;
}

/* The core stands at the packet's address. */
static void stand(struct core *c)
{
    c->synced = c->address;
    c->stands = true;
    enter(c, READ);
}

static void stand_synced(struct core *c)
{
    vs_etrace_tables_clear(&c->tables);
    c->unseen = false;
    c->own = OWN_SYNC;
    c->own_bit = c->packet.branch;
    stand(c);
}

static int refuse_sync(struct decoder *d, const char *why)
{
    return vs_port_refuse(d->port, VS_FIELD_SYNC, why);
}

static int support(struct decoder *d, struct core *c, struct vs_flow_head *h, bool stamped)
{
    const struct vs_etrace_packet *p = &c->packet;
    bool last = c->addressed && (!c->via || c->updiscon);
    unsigned status = p->enabled ? 0 : last ? VS_ETRACE_ENDED_REP : VS_ETRACE_ENDED_NTR;
    if (p->enabled == c->alive || c->started || p->status != status ||
        stamped != (d->config.timed && !p->enabled))
        return refuse_sync(d, "a core that starts or ends otherwise");
    if (p->enabled) {
        c->started = true;
        return 0;
    }
    go_elsewhere(d, c, h, VS_STEP_NOWHERE, AWAY);
    c->alive = c->reported = false;
    return 0;
}

/* F3.1 for an address where nothing retired: a jump's target, or where a trap led to. */
static int unseen(struct decoder *d, struct core *c, struct vs_flow_head *h, bool stamped)
{
    bool jump = c->stands && !stamped;
    if (!c->packet.branch || (!jump && stamped != d->config.timed))
        return refuse_sync(d, "a trap that no encoder reports like this");
    if (c->stands && can_step(d, c)) {
        step(d, c, h);
        c->arrived = false;
        c->stamped = stamped;
        c->stage = UNSEEN;
        return 0;
    }
    go_elsewhere(d, c, h, c->address, AWAY);
    c->reported |= !c->alive;
    c->started = false;
    c->alive = true;
    return 0;
}

/* F3.1 for a trap that does not lead to the handler whose address is known: F3.0 tells where. */
static int trap_elsewhere(struct decoder *d, struct core *c, bool stamped)
{
    if (!c->packet.branch || stamped || !c->alive || c->reported)
        return refuse_sync(d, "a trap that no encoder reports like this");
    c->reported = true;
    return 0;
}

static int trap(struct decoder *d, struct core *c, struct vs_flow_head *h, bool stamped)
{
    const struct vs_etrace_packet *p = &c->packet;
    c->address = p->has_address ? p->address << d->config.shift : d->config.params.tvec;
    if (!c->alive && !(c->started && !p->thaddr))
        return refuse_sync(d, "a trap of a core that does not run");
    if (!p->thaddr && d->config.params.tvec && !c->address)
        return trap_elsewhere(d, c, stamped);
    if (!p->thaddr)
        return unseen(d, c, h, stamped);
    if (c->reported || stamped != d->config.timed)
        return refuse_sync(d, "a trap that was reported");
    go_elsewhere(d, c, h, c->address, ARRIVE);
    return 0;
}

static int sync_packet(struct decoder *d, struct core *c, struct vs_flow_head *h, bool stamped)
{
    bool goes = c->started || c->reported;
    c->address = c->packet.address << d->config.shift;
    if ((!c->alive && !c->started) || (c->unseen && !goes) || stamped != (goes && d->config.timed))
        return refuse_sync(d, "a core that does not run");
    if (goes) {
        go_elsewhere(d, c, h, c->address, ARRIVE);
        c->alive = true;
        c->started = c->reported = false;
        return 0;
    }
    c->arrived = c->lost;
    enter(c, RESYNC);
    if (!c->lost) {
        step(d, c, h);
        c->stage = RESYNC_FIRST;
    }
    return 0;
}

/* Sets where a packet leads to, and how. */
static int find_address(struct decoder *d, struct core *c, bool index)
{
    const struct vs_etrace_packet *p = &c->packet;
    bool pile = p->irreport && p->irets == VS_ETRACE_IRETS_MAX;
    bool follows = trap_follows(d);
    c->via = index || (!p->notify && !pile && (p->updiscon || !follows));
    if (p->updiscon && (p->notify || pile || !follows))
        return vs_port_refuse(d->port, VS_FIELD_TARGET, "a flag without a reason");
    if (index && !(c->address = c->tables.jtc.targets[p->index]))
        return vs_port_refuse(d->port, VS_FIELD_INDEX, "an entry that is empty");
    if (!index)
        c->address = vs_etrace_decode_address(&d->config, c->address, p->address);
    if (c->via && d->config.params.jtc)
        vs_jtc_put(&c->tables.jtc, c->address);
    return 0;
}

/* A packet of branches, an address, or both. */
static int plain_packet(struct decoder *d, struct core *c)
{
    const struct vs_etrace_packet *p = &c->packet;
    bool index = p->format == 0 && p->subformat == VS_ETRACE_INDEX;
    if (!c->alive || c->reported || c->unseen)
        return vs_port_refuse(d->port, VS_FIELD_HEADER, "a core that does not run");
    if (p->format == 0 && !index) {
        c->right = (uint64_t)p->count + VS_ETRACE_MAP_MAX;
        c->wrong = !p->has_address || p->wrong;
    } else {
        c->map = p->map;
        c->bits = p->branches;
    }
    c->irets = p->irreport ? p->irets : 0;
    c->moved = c->arrived = false;
    c->addressed = p->has_address || index;
    c->updiscon = p->updiscon;
    int err = c->addressed ? find_address(d, c, index) : 0;
    enter(c, !c->addressed ? BRANCHES : c->via ? TARGET : OUTCOMES);
    return err;
}

static int next_packet(struct decoder *d, struct core *c, struct vs_flow_head *h)
{
    bool stamped;
    int err = read_packet(d, &c->packet, &stamped, &c->cycle);
    const struct vs_etrace_packet *p = &c->packet;
    if (err)
        return err;
    if (!vs_etrace_is_sync(p))
        return stamped ? refuse_sync(d, "a cycle that nobody needs") : plain_packet(d, c);
    if (p->subformat != VS_ETRACE_SYNC && c->own == OWN_SYNC && c->stands && !can_step(d, c))
        return refuse_sync(d, "the core leaves where nothing has retired");
    if (p->subformat == VS_ETRACE_SUPPORT)
        return support(d, c, h, stamped);
    c->via = c->addressed = false;
    return p->subformat == VS_ETRACE_TRAP ? trap(d, c, h, stamped) : sync_packet(d, c, h, stamped);
}

static int too_few(struct decoder *d)
{
    return vs_port_refuse(d->port, VS_FIELD_OUTCOME, "fewer branches than the packet has");
}

/* Says how the core moves in this stage, if it has to. */
static void issue(struct decoder *d, struct core *c, struct vs_flow_head *h)
{
    switch (c->stage) {
    case BRANCHES:
    case TARGET:
        walk_on(d, c, h);
        break;
    case LANDED:
        h->sync = c->issued = true;
        h->pc = c->address;
        h->instructions = VS_FLOW_OPEN;
        break;
    case OUTCOMES:
        if (outcomes(c))
            walk_on(d, c, h);
        break;
    case RETURNS:
        if (c->irets)
            walk_on(d, c, h);
        break;
    case FIRST:
        if (!c->moved)
            step(d, c, h);
        break;
    case PLACE:
        h->count = VS_FLOW_OPEN;
        h->until = c->address;
        c->issued = true;
        break;
    case RESYNC:
        h->sync = c->issued = true;
        h->count = c->arrived ? 0 : VS_FLOW_OPEN;
        h->until = c->arrived ? VS_STEP_NOWHERE : c->address;
        h->pc = c->address;
        h->instructions = VS_FLOW_OPEN;
        break;
    default:
        break;
    }
}

/* What the stage was to do is done, or did not work out. */
static int conclude(struct decoder *d, struct core *c)
{
    switch (c->stage) {
    case BRANCHES:
        enter(c, READ);
        return outcomes(c) ? too_few(d) : 0;
    case TARGET:
        if (!c->arrived && (outcomes(c) > 1 || c->packet.irreport))
            return too_few(d);
        if (!c->arrived) { /* a system call ended it */
            enter(c, LANDED);
            return drop_own(d, c);
        }
        keep_own(c);
        stand(c);
        return 0;
    case LANDED:
        keep_own(c);
        stand(c);
        return 0;
    case OUTCOMES:
        if (outcomes(c) || (c->arrived && c->irets))
            return too_few(d);
        enter(c, c->arrived ? READ : RETURNS);
        return 0;
    case RETURNS:
        enter(c, FIRST);
        return c->irets ? too_few(d) : 0;
    case FIRST:
        enter(c, PLACE);
        return 0;
    case PLACE:
        stand(c);
        return 0;
    case UNSEEN:
        if (d->config.timed && c->stamped == c->arrived)
            return refuse_sync(d, "a cycle of a jump, or a trap without");
        if (c->arrived) {
            c->reported = true;
            vs_etrace_tables_clear(&c->tables);
        }
        enter(c, c->arrived ? READ : AWAY);
        return 0;
    case AWAY:
        c->unseen = c->alive;
        vs_etrace_tables_clear(&c->tables);
        enter(c, READ);
        return 0;
    case ARRIVE:
        stand_synced(c);
        return 0;
    case RESYNC_FIRST:
        enter(c, RESYNC);
        return 0;
    case RESYNC:
        c->lost = false;
        stand_synced(c);
        return 0;
    default:
        return 0;
    }
}

/* Goes on to the next head of a core. */
static int next_head(void *decoder, unsigned core, struct vs_flow_head *h)
{
    struct decoder *d = decoder;
    struct core *c = &d->cores[core];
    int err = 0;
    while (!err) {
        if (c->stepped) {
            c->stepped = false;
            err = drop_own(d, c);
        }
        if (!err && c->stage != READ)
            err = conclude(d, c);
        if (!err && c->stage == READ)
            err = next_packet(d, c, h);
        if (err)
            break;
        if (c->stage == AWAY && !c->issued)
            go_elsewhere(d, c, h, c->address, AWAY);
        while (!c->issued && c->stage != READ && !err) {
            issue(d, c, h);
            if (!c->issued)
                err = conclude(d, c);
        }
        if (c->issued)
            return err;
    }
    return err;
}

static int decoder_head(void *decoder, struct vs_flow_head *h)
{
    return vs_flow_decoder_head(decoder, ((struct decoder *)decoder)->port, h, next_head);
}

/* ---- synchronisation points ------------------------------------------------------------------ */

static void forget(struct core *c)
{
    struct vs_etrace_tables tables = c->tables;
    *c = (struct core){.tables = tables};
    vs_etrace_tables_clear(&c->tables);
}

/* Returns whether F3.0 lies at a bit of the stream, and after it only packets, or so it seems. */
static bool is_point(struct decoder *d, unsigned stream, uint64_t bit, uint64_t *address)
{
    enum { ENOUGH = 64 };
    struct vs_etrace_packet p;
    bool stamped;
    uint64_t cycle;
    int err = vs_port_seek(d->port, stream, bit);
    for (unsigned i = 0; i < ENOUGH && !err; i++) {
        err = read_packet(d, &p, &stamped, &cycle);
        if (!i && (err || p.format != 3 || p.subformat != VS_ETRACE_SYNC || stamped))
            return false;
        if (!i)
            *address = p.address << d->config.shift;
    }
    return !err || err == -VSE_END;
}

static int decoder_sync(void *decoder, unsigned stream, uint64_t bit, struct vs_flow_point *point)
{
    struct decoder *d = decoder;
    struct core *c = &d->cores[stream];
    uint64_t address = 0;
    forget(c);
    for (bit = (bit + 7) / 8 * 8; !vs_port_seek(d->port, stream, bit); bit += 8)
        if (vs_port_goes_on(d->port) && is_point(d, stream, bit, &address)) {
            *point = (struct vs_flow_point){stream, bit, stream, address};
            c->alive = c->lost = true;
            return vs_port_seek(d->port, stream, bit);
        }
    return -VSE_END;
}

const struct vs_flow_decoder_ops vs_etrace_decoder_ops = {.open = decoder_open,
                                                          .look = decoder_look,
                                                          .head = decoder_head,
                                                          .branch = decoder_branch,
                                                          .call = decoder_call,
                                                          .discontinuity = decoder_discontinuity,
                                                          .sync = decoder_sync,
                                                          .close = decoder_close};
