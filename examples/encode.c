/* SPDX-License-Identifier: MIT */
/* usage: encode run.vest SPEC FILE.vport   Writes the bits that leave the chip, rebuilds the
 * program's control flow from them and its code, and proves the stream equal to the run. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <vestige/vestige.h>

/* Counts branches that are taken. */
static int count(void *context, const struct vs_decoded *steps, size_t n)
{
    uint64_t *taken = (uint64_t *)context;
    for (size_t i = 0; i < n; i++)
        if (steps[i].flags & VS_BR_COND && steps[i].flags & VS_BR_TAKEN)
            ++*taken;
    return 0;
}

static int encode(const char *path, const char *spec, const char *stream, struct vs_diag *diag)
{
    struct vs_encode_options options;
    struct vs_encoded written;
    struct vs_reader *run;
    int error = vs_run_open(&run, path, VS_OPEN_DEFAULT, diag);
    if (error)
        return error;
    memset(&options, 0, sizeof(options));
    options.size = sizeof(options);
    options.overwrite = true;
    written.size = sizeof(written);
    error = vs_encode(run, spec, stream, &options, &written, diag);
    if (!error)
        printf("%" PRIu64 " bits in %" PRIu64 " messages\n", written.bits, written.messages);
    vs_reader_close(run);
    return error;
}

static int decode(const char *path, const char *stream, struct vs_diag *diag)
{
    struct vs_decode_options options;
    struct vs_decode_result result;
    uint64_t taken = 0;
    memset(&options, 0, sizeof(options));
    options.size = sizeof(options);
    options.code = path;
    result.size = sizeof(result);
    int error = vs_decode(stream, &options, count, &taken, &result, diag);
    if (!error)
        printf("%" PRIu64 " steps, %" PRIu64 " instructions, %" PRIu64 " taken\n", result.steps,
               result.instructions, taken);
    return error;
}

static int prove(const char *path, const char *spec, struct vs_diag *diag)
{
    struct vs_proved proved;
    proved.size = sizeof(proved);
    int error = vs_prove_run(path, NULL, &spec, 1, &proved, diag);
    if (!error)
        printf("compared %" PRIu64 ": %s\n", proved.compared, proved.same ? "equal" : proved.why);
    return error;
}

int main(int argc, char **argv)
{
    struct vs_diag diag;
    if (argc != 4) {
        fprintf(stderr, "usage: encode run.vest SPEC FILE.vport\n");
        return 2;
    }
    int error = encode(argv[1], argv[2], argv[3], &diag);
    if (!error)
        error = decode(argv[1], argv[3], &diag);
    if (!error)
        error = prove(argv[1], argv[2], &diag);
    if (error)
        fprintf(stderr, "encode: %s: %s\n", argv[1], diag.text);
    return error ? 1 : 0;
}
