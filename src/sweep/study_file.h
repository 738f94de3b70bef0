/* SPDX-License-Identifier: MIT */
/* What a sweep is to measure, as users write it: lines "key = value" in sections. A line that
 * begins with # is a comment.
 *
 *   [sweep]        what is measured and how (keys: see settings in study_file.c)
 *   [runs GROUP]   file = PATTERN: runs that exist, as members of a group, which may be left out
 *   [record NAME]  command = PROGRAM ARGUMENT...: a program to record; options, as and group say
 *                  how; any other key is a variable with its values, {key} stands for one of them,
 *                  and there is a run for each combination. A section [record] without a name has
 *                  what all sections after it begin with.
 *   [techniques]   templates (sweep/template.h), or names such as "all", one on a line;
 *                  [techniques GROUP]: those for the runs of a group alone
 *   [variables]    name = value: what {name} stands for in paths and commands
 *
 * Nothing is looked for in the file system here. */
#ifndef SWEEP_STUDY_FILE_H
#define SWEEP_STUDY_FILE_H

#include <stdbool.h>

#include "sweep/template.h"

enum vs_sweep_verify { VS_SWEEP_VERIFY_NONE, VS_SWEEP_VERIFY_SAMPLE, VS_SWEEP_VERIFY_ALL };
enum vs_sweep_search { VS_SWEEP_GRID, VS_SWEEP_RANDOM, VS_SWEEP_GUIDED };

enum { VS_SWEEP_VARIABLES = 8, VS_SWEEP_LINE = 1 << 16, VS_SWEEP_SIZE = 1 << 24 };

struct vs_sweep_variable {
    const char *name, *value;
    unsigned line;
};

/* Where runs come from. */
struct vs_sweep_source {
    const char *name;    /* of what is recorded */
    const char *file;    /* a pattern or path; NULL: `command` is recorded */
    bool literal;        /* the file is no pattern */
    const char *command; /* program and arguments, between blanks */
    const char *options; /* for vestige record; may be NULL */
    const char *as;      /* the path that the program sees as its own; may be NULL */
    struct vs_words groups;
    struct vs_sweep_variable variables[VS_SWEEP_VARIABLES];
    size_t variable_count;
    const char *study; /* the file that says so, with the line */
    unsigned line;
};

struct vs_sweep_template {
    const char *text; /* as it was written, or the name of a group of techniques */
    const char *study;
    unsigned line;
    bool group;            /* the text names techniques that technique/spec_list.h lists */
    const char *runs;      /* the group of runs that it is for; NULL: all */
    struct vs_template of; /* if it is no group */
};

enum vs_sweep_relation {
    VS_SWEEP_AT_MOST,
    VS_SWEEP_AT_LEAST,
    VS_SWEEP_BELOW,
    VS_SWEEP_ABOVE,
    VS_SWEEP_EQUAL
};

/* What a point must be like to be measured. */
struct vs_sweep_constraint {
    const char *text, *name; /* storage, gates, or a parameter */
    enum vs_sweep_relation relation;
    uint64_t limit;
    const char *study;
    unsigned line;
};

/* Which recorded runs are wanted: those whose variable has one of these values, or which do not
 * have the variable. The name "name" stands for that of the section. */
struct vs_sweep_only {
    const char *name, *values;
    const char *study;
    unsigned line;
};

struct vs_sweep_study {
    struct vs_words columns, minimise; /* names; empty: the usual ones */
    const char *columns_study;
    unsigned columns_line, minimise_line;
    const char *minimise_study;
    const char *group; /* of the runs whose sum the frontier is of; NULL: all */
    uint64_t window;
    const char *buffer; /* as bandwidth --buffer takes it; NULL: none */
    enum vs_sweep_verify verify;
    uint64_t verify_every; /* of a sample: one point in so many */
    enum vs_sweep_search search;
    uint64_t budget, seed, batch;
    bool sums;   /* the table has sums and means */
    bool by_run; /* the table has all points of a run, and then the next run */
    struct vs_sweep_only only[VS_SWEEP_VARIABLES];
    size_t only_count;
    struct vs_sweep_constraint *constraints;
    size_t constraint_count, constraint_capacity;
    struct vs_sweep_source *sources;
    size_t source_count, source_capacity;
    struct vs_sweep_template *templates;
    size_t template_count, template_capacity;
    struct vs_sweep_variable variables[VS_SWEEP_VARIABLES];
    size_t variable_count;

    /* private */
    struct vs_arena arena;
};

/* The defaults, with nothing to measure. */
void vs_sweep_study_init(struct vs_sweep_study *s);
void vs_sweep_study_fini(struct vs_sweep_study *s);

/* Adds what a text says to the study. Messages begin with "NAME:LINE: ", or without a line if the
 * text is made of a command's options (`lines` is false). Returns 0, or with diag, whose text says
 * where: -VSE_INVAL (what it says is wrong); -VSE_LIMIT (it is too long); -VSE_NOMEM. */
int vs_sweep_study_parse(struct vs_sweep_study *s, const char *name, bool lines, const char *text,
                         size_t size, struct vs_diag *diag);

/* Whether there is something to measure: runs and techniques. Returns 0; -VSE_INVAL. */
int vs_sweep_study_check(const struct vs_sweep_study *s, const char *name, struct vs_diag *diag);

/* Says where: "NAME:LINE: text". Returns `error`. */
int vs_sweep_at(struct vs_diag *diag, int error, const char *study, unsigned line,
                const char *format, ...) __attribute__((format(printf, 5, 6)));

/* A limit: as vs_number, or with a small k, m or g, which are powers of 1000. */
bool vs_sweep_limit(const char *text, uint64_t *limit);

/* Whether a value fulfils the constraint. */
bool vs_sweep_holds(const struct vs_sweep_constraint *c, uint64_t value);

#endif
