/* SPDX-License-Identifier: MIT */
#include "technique/message_each.h"

int vs_message_each_init(struct vs_message_each *m, int (*parse)(struct vs_message_each *m),
                         const struct vs_data_params *params, unsigned cores,
                         struct vs_port_reader *port)
{
    *m = (struct vs_message_each){.port = port, .heads = port, .cores = cores, .parse = parse};
    return vs_data_passed_init(&m->passed, params, cores);
}

int vs_message_each_clone(struct vs_message_each *to, const struct vs_message_each *from,
                          struct vs_port_reader *port)
{
    *to = *from;
    to->heads = to->port = port;
    to->state = (struct vs_buf){0};
    return vs_data_passed_clone(&to->passed, &from->passed);
}

void vs_message_each_fini(struct vs_message_each *m)
{
    vs_data_passed_fini(&m->passed);
    vs_buf_fini(&m->state);
}

int vs_message_each_look(struct vs_message_each *m, unsigned core)
{
    if (core >= m->cores)
        return -VSE_INVAL;
    while (!m->have && !m->error) {
        if (m->prepare)
            m->prepare(m->context);
        m->error = m->parse(m);
        m->have = !m->error && !m->head.full;
    }
    if (m->error)
        return m->error == -VSE_END ? vs_data_ended(m->port, core) : m->error;
    return m->core == core ? 0 : VS_DECODER_WAIT;
}

/* Looks for a message that is due whatever the core has loaded. */
static int look_due(struct vs_message_each *m, unsigned core)
{
    int err = vs_message_each_look(m, core);
    return err || !m->known ? err : vs_data_refuse(m->port, core, "should load first");
}

int vs_message_each_write(void *decoder, unsigned core, uint64_t addr, size_t size,
                          const uint8_t *bytes)
{
    (void)addr, (void)size, (void)bytes;
    return core < ((struct vs_message_each *)decoder)->cores ? 0 : -VSE_INVAL;
}

int vs_message_each_nondet(void *decoder, unsigned core, size_t size, uint8_t *bytes)
{
    struct vs_message_each *m = decoder;
    int err = look_due(m, core);
    if (err || (err = vs_data_get_value(m->port, &m->head, bytes, size)))
        return err;
    vs_message_each_take(m);
    return 0;
}

int vs_message_each_due(void *decoder, unsigned core, uint64_t since, uint64_t *instructions,
                        bool *ends)
{
    struct vs_message_each *m = decoder;
    (void)since;
    int err = vs_message_each_look(m, core);
    vs_data_due(!err ? &m->head : NULL, instructions, ends);
    return err < 0 ? err : 0;
}

bool vs_message_each_takes(void *decoder, unsigned core, uint64_t addr, size_t size, bool store)
{
    (void)decoder, (void)core, (void)addr, (void)size;
    return !store;
}

int vs_message_each_read_quietly(void *decoder, unsigned core, uint64_t addr, size_t size,
                                 uint8_t *bytes)
{
    (void)decoder, (void)core, (void)addr, (void)size, (void)bytes;
    return VS_DECODER_LOUD;
}

int vs_message_each_state(void *decoder, unsigned core, uint64_t instructions,
                          const uint8_t **bytes, size_t *size)
{
    struct vs_message_each *m = decoder;
    int err = look_due(m, core);
    if (err ||
        (err = vs_data_get_state(m->port, &m->head, core, instructions, &m->state, bytes, size)))
        return err;
    vs_message_each_take(m);
    return 0;
}

int vs_message_each_end(void *decoder, unsigned core, uint64_t instructions)
{
    struct vs_message_each *m = decoder;
    int err = look_due(m, core);
    if (err || (err = vs_data_get_end(m->port, &m->head, core, instructions)))
        return err;
    vs_message_each_take(m);
    return 0;
}

int vs_message_each_turn(void *decoder, unsigned *core)
{
    struct vs_message_each *m = decoder;
    int err = vs_message_each_look(m, 0);
    if (err >= 0)
        *core = m->core;
    return err < 0 ? err : 0;
}
