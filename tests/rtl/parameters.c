/* SPDX-License-Identifier: MIT */
/* usage: rtl-parameters SPEC CORES timed|untimed
 * Prints the parameters of vs_mcftr (mcfTR, mcfTG), or for mlvCF those of vs_mlvcf and POLICY,
 * which belongs to the caches, that build this technique, a line each: NAME=VALUE. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "technique/data.h"
#include "technique/tagged.h"
#include "technique/technique.h"

enum { TIME_BITS = 32 };

static const struct {
    const char *parameter, *name;
} names[] = {
    {"gshare", "GSHARE"},
    {"ras", "RAS"},
    {"ibtb", "IBTB"},
    {"bcnt", "BCNT_FIRST"},
    {"bcnt_next", "BCNT_NEXT"},
    {"target", "TA_FIRST"},
    {"target_next", "TA_NEXT"},
    {"icnt", "ICNT_FIRST"},
    {"icnt_next", "ICNT_NEXT"},
    {"dcc", "DCC_FIRST"},
    {"dcc_next", "DCC_NEXT"},
    {"bcnt_bits", "BCNT"},
    {"icnt_bits", "ICNT"},
    {"fahcnt", "FAH_FIRST"},
    {"fahcnt_next", "FAH_NEXT"},
    {"fahcnt_bits", "HITS"},
    {"line", "LINE"},
    {"ways", "WAYS"},
    {"granule", "GRANULE"},
    {"pir_bits", "PIR_BITS"},
    {"pir_pc_bits", "PIR_PC_BITS"},
    {"base", "BASE"},
    {"tables", "TABLES"},
    {"entries", "ENTRIES"},
    {"tag", "TAG"},
    {"loops", "LOOPS"},
    {"ittage", "ITTAGE"},
    {"ittage_tables", "ITTAGE_TABLES"},
    {"ittage_tag", "ITTAGE_TAG"},
    {"target_bits", "TARGET_BITS"},
};

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "rtl-parameters: %s: %s\n", what, why);
    return 2;
}

static const char *print_policy(const char *value)
{
    static const char *const policies[] = {"round-robin", "lru", "fifo"};
    for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++)
        if (strcmp(value, policies[i]) == 0) {
            printf("POLICY=%zu\n", i);
            return NULL;
        }
    return "the RTL has no such replacement";
}

/* Prints one parameter of the technique. Returns 0, or why the RTL has nothing like it. */
static const char *print(const char *name, const char *value)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i].parameter) == 0) {
            printf("%s=%s\n", names[i].name, value);
            return NULL;
        }
    if (strcmp(name, "hash") == 0) {
        printf("FOLDED=%d\n", strcmp(value, "folded") == 0);
    } else if (strcmp(name, "pir") == 0) {
        printf("PIR_ALL=%d\n", strcmp(value, "all") == 0);
    } else if (strcmp(name, "predictors") == 0) {
        return strcmp(value, "private") == 0 ? NULL : "the RTL has no shared predictors";
    } else if (strcmp(name, "ibtb_tags") == 0) {
        return strcmp(value, "tagged") == 0 ? NULL : "the RTL has no buffer without tags";
    } else if (strcmp(name, "direct") == 0) {
        return strcmp(value, "inferred") == 0 ? NULL : "the RTL does not look at direct branches";
    } else if (strcmp(name, "policy") == 0) {
        return print_policy(value);
    } else if (strcmp(name, "account") == 0 || strcmp(name, "order") == 0) {
        return strcmp(value, "exact") == 0 ? NULL : "the RTL has only the exact way";
    } else if (strcmp(name, "caches") == 0) {
        return strcmp(value, "coherent") == 0 ? NULL : "the RTL has only coherent caches";
    } else if (strcmp(name, "k") == 0 || strcmp(name, "r") == 0) {
        return strcmp(value, "0") == 0 ? NULL : "the RTL has no tables of known lines";
    } else if (strcmp(name, "size") != 0 && strncmp(name, "history_", 8) != 0) {
        return "the RTL has no such parameter";
    }
    return NULL;
}

/* Prints how much history each table of TAGE sees. */
static int print_lengths(const struct vs_tagged_params *p)
{
    const struct vs_tagged_config config = vs_tagged_config(p);
    struct vs_tage tage;
    int err = vs_tage_init(&tage, &config.tage);
    printf("TAGGED=1\nLENGTHS=%u'h", 16 * tage.tables);
    for (unsigned i = tage.tables; i-- > 0;)
        printf("%04x", tage.length[i]);
    printf("\n");
    vs_tage_fini(&tage);
    return err;
}

int main(int argc, char **argv)
{
    struct vs_technique_spec spec;
    struct vs_diag diag = {0};
    char text[VS_TECHNIQUE_TEXT];
    if (argc != 4)
        return fail("usage", "rtl-parameters SPEC CORES timed|untimed");
    bool timed = strcmp(argv[3], "timed") == 0;
    if (vs_technique_parse(&spec, argv[1], &diag) < 0)
        return fail(argv[1], diag.text);
    vs_technique_settle(&spec, timed);
    if (vs_technique_text(&spec, text, sizeof(text)) < 0)
        return fail(argv[1], "too long");
    char *at = strchr(text, ':');
    for (char *item = at ? strtok(at + 1, ",") : NULL; item; item = strtok(NULL, ",")) {
        char *equals = strchr(item, '=');
        if (!equals)
            return fail(argv[1], item);
        *equals = 0;
        const char *why = print(item, equals + 1);
        if (why)
            return fail(item, why);
    }
    if (strncmp(spec.technique->name, "mlvCF", 5) == 0) {
        const struct vs_data_params *p = (const struct vs_data_params *)spec.params;
        printf("SETS=%llu\n", (unsigned long long)(p->size / p->line / p->ways));
    }
    if (strcmp(spec.technique->name, "mcfTG") == 0 &&
        print_lengths((const struct vs_tagged_params *)spec.params) < 0)
        return fail(argv[1], "it cannot be opened");
    /* pieces of two short chunks, or of one long one */
    printf("CHUNKS=%d\n", strcmp(spec.technique->name, "mcfTR_b") == 0 ? 1 : 2);
    printf("CORES=%s\nTIME=%d\n", argv[2], timed ? TIME_BITS : 0);
    return 0;
}
