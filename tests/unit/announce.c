/* SPDX-License-Identifier: MIT */
/* The tool in Valgrind, heard by a recorder that only counts: however often code is translated, its
 * description is sent once, so that neither side needs more memory for each window. */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "base/map.h"
#include "capture/launch.h"
#include "unittest.h"

enum { WINDOWS = 200, SPACE = 300, LENGTH = 60 };

struct heard {
    struct wire_block **blocks; /* as they were sent, by number - 1 */
    size_t *sizes;
    size_t count, capacity, size_capacity;
    struct vs_map numbers; /* by hash, or the next free key after it */
    uint64_t again, gaps;
    bool ended;
};

static uint64_t hash(const struct wire_block *b, size_t size)
{
    const uint8_t *bytes = (const uint8_t *)(b + 1);
    uint64_t h = b->addr;
    for (size_t i = 0; i < size - sizeof(*b); i++)
        h = vs_hash(h ^ bytes[i]) >> 1;
    return h;
}

/* Whether two descriptions differ in nothing but the number. */
static bool is_same(const struct wire_block *a, size_t a_size, const struct wire_block *b,
                    size_t b_size)
{
    struct wire_block head = *b;
    head.number = a->number;
    return a_size == b_size && !memcmp(a, &head, sizeof(head)) &&
           !memcmp(a + 1, b + 1, a_size - sizeof(head));
}

static void hear_block(struct heard *h, const struct wire_block *b, size_t size)
{
    uint64_t key = hash(b, size), number;
    CHECK_EQ(b->number, h->count + 1);
    for (; (number = vs_map_value(&h->numbers, key)); key++)
        CHECK(!is_same(h->blocks[number - 1], h->sizes[number - 1], b, size));
    CHECK_EQ(vs_array_room((void **)&h->blocks, &h->capacity, h->count, 1, sizeof(*h->blocks)), 0);
    CHECK_EQ(vs_array_room((void **)&h->sizes, &h->size_capacity, h->count, 1, sizeof(*h->sizes)),
             0);
    h->blocks[h->count] = malloc(size);
    memcpy(h->blocks[h->count], b, size);
    h->sizes[h->count++] = size;
    CHECK_EQ(vs_map_set(&h->numbers, key, h->count), 0);
}

static void hear_record(struct heard *h, uint32_t kind, const void *data, size_t size)
{
    uint64_t number;
    switch (kind) {
    case WIRE_BLOCK:
        hear_block(h, data, size);
        break;
    case WIRE_AGAIN:
        memcpy(&number, data, sizeof(number));
        CHECK(number && number <= h->count);
        h->again++;
        break;
    case WIRE_GAP:
        h->gaps++;
        break;
    case WIRE_BYE:
        h->ended = true;
        break;
    default:
        break;
    }
}

static void hear_buffer(struct heard *h, const uint8_t *bytes, size_t size)
{
    for (size_t pos = 0; pos + sizeof(struct wire_slot) <= size;) {
        struct wire_slot slot;
        struct wire_head head;
        memcpy(&slot, bytes + pos, sizeof(slot));
        if (!slot.what)
            break;
        if (slot.what < WIRE_FIRST) {
            CHECK(slot.what <= h->count);
            pos += h->blocks[slot.what - 1]->length;
            continue;
        }
        memcpy(&head, bytes + pos + sizeof(slot), sizeof(head));
        hear_record(h, slot.what, bytes + pos + sizeof(slot) + sizeof(head),
                    head.size - sizeof(head));
        pos += sizeof(slot) + head.size;
    }
}

static void listen_to(struct heard *h, struct vs_launch *l)
{
    struct wire_note note;
    struct wire_reply reply = {.kind = WIRE_FREE};
    while (recv(l->socket, &note, sizeof(note), MSG_WAITALL) == sizeof(note)) {
        CHECK_EQ(note.kind, WIRE_FULL);
        hear_buffer(h, l->memory + WIRE_HEAD_SIZE + (size_t)note.buffer * WIRE_BUFFER_SIZE,
                    note.bytes);
        reply.value = note.buffer;
        send(l->socket, &reply, sizeof(reply), MSG_NOSIGNAL);
    }
}

/* What the program prints is not for us. */
static int start(struct vs_launch *l, const struct vs_engine_request *o, struct vs_diag *diag)
{
    int own = dup(1), nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    CHECK(own >= 0 && nowhere >= 0 && dup2(nowhere, 1) == 1);
    int error = vs_launch_start(l, o, diag);
    CHECK_EQ(dup2(own, 1), 1);
    close(own);
    close(nowhere);
    return error;
}

TEST(describes_a_block_once_however_many_windows)
{
    char program[PATH_MAX], tool[PATH_MAX];
    struct vs_window windows[WINDOWS];
    struct heard h = {0};
    struct vs_launch l;
    struct vs_diag diag = {0};
    unittest_built("test/programs/values", program);
    unittest_built("lib/vestige/valgrind", tool);
    char *const argv[] = {program, NULL};
    const struct vs_valgrind_settings settings = {.tool = tool};
    for (size_t i = 0; i < WINDOWS; i++)
        windows[i] = (struct vs_window){.start = 1000 + i * SPACE, .length = LENGTH};
    const struct vs_engine_request request = {.argv = argv,
                                              .loads = true,
                                              .stores = true,
                                              .windows = windows,
                                              .window_count = WINDOWS,
                                              .settings = &settings};
    CHECK_EQ(start(&l, &request, &diag), 0);
    listen_to(&h, &l);
    vs_launch_wait(&l);
    vs_launch_close(&l);
    CHECK(h.ended);
    CHECK_EQ(h.gaps, WINDOWS);
    CHECK(h.count > 100 && h.again > h.count);
    for (size_t i = 0; i < h.count; i++)
        free(h.blocks[i]);
    free(h.blocks);
    free(h.sizes);
    vs_map_fini(&h.numbers);
}
