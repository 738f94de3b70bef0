/* SPDX-License-Identifier: MIT */
/* Streams from elsewhere, with all that is needed to decode them. */
#ifndef CLI_FOREIGN_H
#define CLI_FOREIGN_H

#include "front/options.h"
#include "isa/set.h"
#include "replay/image_code.h"
#include "technique/technique.h"

#define FOREIGN_ISA "x86-64" /* of what perf records with Intel PT, and the default */

struct foreign_stream {
    const char *name; /* of its file, for messages */
    uint64_t before;  /* bytes of the file before it */
    uint64_t tid;     /* the system's number of its thread; 0: not known */
};

/* A zeroed struct is ready. */
struct foreign {
    struct vs_technique_spec spec; /* settled */
    struct vs_technique_setup setup;
    const struct vs_isa *isa;
    struct foreign_stream *names;
    struct vs_port_stream *streams; /* one for each core */
    size_t count, capacity, stream_capacity;
    struct vs_image_code code; /* indexed */
    struct vs_image *images;
    size_t image_count, image_capacity;
    void **owned; /* strings and bytes that all of these point to */
    size_t owned_count, owned_capacity;
};

/* These return CLI_DONE, or the status after a message. */

/* Adds a stream, which is a whole file. */
int foreign_add_file(struct cli *cli, struct foreign *f, const char *path, uint64_t tid);

/* Adds a stream, whose bytes now belong to the struct even after an error. */
int foreign_add_stream(struct cli *cli, struct foreign *f, struct foreign_stream name,
                       uint8_t *bytes, size_t size);

/* Adds code: a part of a file that lies at an address. */
int foreign_add_part(struct cli *cli, struct foreign *f, const char *path, uint64_t offset,
                     uint64_t size, uint64_t address);

/* Notes an image, so that the run names it. */
int foreign_add_image(struct cli *cli, struct foreign *f, const struct vs_image *image);

/* Adds the code of the images from `first` on, from their files. */
int foreign_load_images(struct cli *cli, struct foreign *f, size_t first);

/* Takes everything from the description at `path`, which names the streams; if `given` is not NULL,
 * these files are the streams instead. `from` is what the user said the streams are,
 * or NULL. */
int foreign_from_about(struct cli *cli, struct foreign *f, const char *path, const char *from,
                       char *const *given, size_t given_count);

/* Takes everything from a file that Linux's perf wrote, with Intel PT in it. A line says which
 * files of code are missing. */
int foreign_from_perf(struct cli *cli, struct foreign *f, const char *path);

/* Finds the technique, whose streams must be bytes; without a description, its decoder takes all
 * that the standard has (the configuration "foreign", if there is one). */
int foreign_find_spec(struct cli *cli, struct foreign *f, const char *from, bool described);

/* Indexes the code, after all of it was added. */
int foreign_finish(struct cli *cli, struct foreign *f);

void foreign_fini(struct foreign *f);

#endif
