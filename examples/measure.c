/* SPDX-License-Identifier: MIT */
/* usage: measure run.vest SPEC...   Prints the bits that trace modules take of a run, what they are
 * for, and the gates that they need. */
#include <inttypes.h>
#include <stdio.h>
#include <vestige/vestige.h>

static void print(const struct vs_measure *m, uint64_t number)
{
    struct vs_measured r;
    const char *name;
    uint64_t bits;
    r.size = sizeof(r);
    if (vs_measure_get(m, number, &r) < 0)
        return;
    printf("%s: %" PRIu64 " bits in %" PRIu64 " messages, %.4f bits per instruction, %" PRIu64
           " gates\n",
           r.technique, r.bits, r.messages, (double)r.bits / (double)r.instructions, r.gates);
    for (unsigned k = 0; vs_measure_field(m, number, k, &name, &bits) == 0; k++)
        if (bits)
            printf("  %-8s %" PRIu64 "\n", name, bits);
}

static int measure(struct vs_reader *run, char **specs, int count, struct vs_diag *diag)
{
    struct vs_measure *m;
    int error = vs_measure_open(&m, run, NULL, diag);
    for (int i = 0; i < count && !error; i++)
        if (vs_measure_add(m, specs[i], diag) < 0)
            error = diag->error;
    if (!error)
        error = vs_measure_run(m, diag);
    for (int i = 0; i < count && !error; i++)
        print(m, (uint64_t)i);
    vs_measure_close(m);
    return error;
}

int main(int argc, char **argv)
{
    struct vs_diag diag;
    struct vs_reader *run;
    if (argc < 3) {
        fprintf(stderr, "usage: measure run.vest SPEC...\n");
        return 2;
    }
    if (vs_run_open(&run, argv[1], VS_OPEN_DEFAULT, &diag) < 0) {
        fprintf(stderr, "measure: %s: %s\n", argv[1], diag.text);
        return 1;
    }
    int error = measure(run, argv + 2, argc - 2, &diag);
    if (error)
        fprintf(stderr, "measure: %s: %s\n", argv[1], diag.text);
    vs_reader_close(run);
    return error ? 1 : 0;
}
