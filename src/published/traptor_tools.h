/* SPDX-License-Identifier: MIT */
/* The predictors behind mcfTRaptor and tmcfTRaptor, and what they count. Unlike the techniques of
 * these names, these are the software tools: any size may be 0, and sharing includes the return
 * address stack. */
#ifndef PUBLISHED_TRAPTOR_TOOLS_H
#define PUBLISHED_TRAPTOR_TOOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "front/out.h"
#include "model/gshare.h"
#include "model/ibtb.h"
#include "model/ras.h"
#include "vestige/event.h"

struct traptor_config {
    unsigned gshare, ras, ibtb; /* entries */
    bool shared;                /* one set for all threads */
    bool untagged;              /* the target buffer has no tags, so that either way may hit */
};

/* The sizes that can be chosen, by number from 0 up, for OPTION_ENUM. */
enum { TRAPTOR_GSHARES = 6, TRAPTOR_RASES = 4, TRAPTOR_IBTBS = 4 };
const char *traptor_gshare_name(unsigned number);
const char *traptor_ras_name(unsigned number);
const char *traptor_ibtb_name(unsigned number);
unsigned traptor_entries(const char *name);

struct traptor_share {
    uint64_t right, total;
};

struct traptor_set {
    struct vs_gshare gshare;
    struct vs_ibtb ibtb;
    struct vs_ras ras;
};

struct traptor_thread {
    struct traptor_set *set;
    uint32_t bcnt, icnt;
};

struct traptor {
    struct traptor_config config;
    struct traptor_set *shared;
    struct traptor_thread *threads;
    size_t count, capacity;

    struct traptor_share gshare, ras, ibtb; /* what each predicted */
    struct traptor_share conditional, indirect;
    uint64_t exceptions;
    uint64_t classes[4]; /* by the numbers of mcfTrace's classes */
};

enum traptor_kind { TRAPTOR_NOTHING = -1, TRAPTOR_OUTCOME, TRAPTOR_TARGET, TRAPTOR_EXCEPTION };

/* A message that is to be written. */
struct traptor_message {
    enum traptor_kind kind;
    uint32_t bcnt; /* 0 for an exception */
    uint32_t icnt;
    uint64_t target;
};

/* `t` is zeroed except for the config. Returns 0; -VSE_NOMEM. fini is needed in any case. */
int traptor_init(struct traptor *t);
void traptor_fini(struct traptor *t);

/* Counts a thread's instructions; it must be called before the two below. Returns 0; -VSE_NOMEM. */
int traptor_count(struct traptor *t, unsigned thread, unsigned icount);

/* Take a branch, or an exception, of a thread whose instructions were counted. */
struct traptor_message traptor_branch(struct traptor *t, unsigned thread, uint64_t pc,
                                      uint64_t target, unsigned flags, unsigned size);

struct traptor_message traptor_exception(struct traptor *t, unsigned thread, uint64_t handler);

/* Print the statistics that both tools have. */
void traptor_statistics(const struct traptor *t, struct out *out, const char *tool);
void traptor_structures(const struct traptor *t, struct out *out);

#endif
