/* SPDX-License-Identifier: MIT */
#include "rerun/snapshots.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "unittest.h"

enum { PAGES = 40, STATES = 3 * VS_SNAPSHOTS_MOST, CORE = 24 };

/* What memory held when a snapshot was taken. */
struct known {
    bool there[PAGES];
    uint8_t bytes[PAGES][VS_PAGE_SIZE];
};

static void change(struct vs_whole_memory *m, uint64_t *state)
{
    bool code = false;
    for (unsigned i = 0; i < 8; i++) {
        uint64_t addr = vs_random(state) % PAGES * VS_PAGE_SIZE;
        uint64_t value = vs_random(state);
        if (value % 5 == 0)
            vs_whole_clear(m, addr, VS_PAGE_SIZE);
        else
            CHECK_EQ(vs_whole_put(m, addr + value % 4000, &value, 1 + value % 60 % 8, &code), 0);
    }
    if (vs_random(state) % 50 == 0)
        vs_whole_clear(m, 0, UINT64_MAX);
}

static void note(struct known *k, const struct vs_whole_memory *m)
{
    for (unsigned i = 0; i < PAGES; i++) {
        const struct vs_whole_page *page = vs_map_pointer(&m->pages, i);
        k->there[i] = page;
        if (page)
            memcpy(k->bytes[i], page->bytes, VS_PAGE_SIZE);
    }
}

static void add(struct vs_snapshot_list *l, struct vs_whole_memory *m, uint64_t number)
{
    const struct vs_snapshot_head head = {.input = number, .events = 10 * number, .threads = 2};
    const struct vs_snapshot_thread threads[2] = {{.goal = number, .live = 1}, {.last = number}};
    uint8_t core[CORE];
    struct vs_buf state = {0};
    memset(core, (int)number, sizeof(core));
    CHECK_EQ(vs_buf_put(&state, threads, sizeof(threads)), 0);
    CHECK_EQ(vs_buf_put(&state, core, sizeof(core)), 0);
    CHECK_EQ(vs_snapshot_list_add(l, &head, &state, m), 0);
    CHECK(!state.data && !m->change_count);
}

static int restore(void *context, uint64_t number, const uint8_t *bytes)
{
    bool code;
    return vs_whole_set(context, number, bytes, &code);
}

static void check_state(struct vs_whole_memory *m, const struct known *k)
{
    for (unsigned i = 0; i < PAGES; i++) {
        const struct vs_whole_page *page = vs_map_pointer(&m->pages, i);
        if (!k->there[i] || !page)
            CHECK_EQ(page != NULL, k->there[i]);
        else
            CHECK_MEM(page->bytes, k->bytes[i], VS_PAGE_SIZE);
    }
}

/* More snapshots than are kept: those that are left make the states that there were. */
TEST(restores_what_was_there)
{
    struct known *known = calloc(STATES + 1, sizeof(*known));
    static struct vs_whole_memory m, again;
    static struct vs_snapshot_list list;
    static struct vs_packed_snapshots packed;
    struct vs_buf bytes = {0};
    uint64_t state = 7;
    m.tracked = true;
    list.every = 5;
    CHECK(known != NULL);
    for (uint64_t number = 1; number <= STATES; number++) {
        change(&m, &state);
        note(&known[number], &m);
        add(&list, &m, number);
        CHECK(list.count < VS_SNAPSHOTS_MOST);
    }
    CHECK(list.every > 5 && list.count > 4);
    CHECK_EQ(vs_snapshot_list_pack(&list, &bytes), 0);
    CHECK_EQ(vs_snapshots_parse(&packed, bytes.data, bytes.len, list.count, 2, CORE), 0);
    for (unsigned i = 0; i < packed.count; i++) {
        const struct vs_packed_snapshot *s = &packed.snapshots[i];
        uint64_t number = s->head.input;
        if (s->head.emptied)
            vs_whole_clear(&again, 0, UINT64_MAX);
        CHECK_EQ(vs_snapshot_pages(s, restore, &again), 0);
        check_state(&again, &known[number]);
        CHECK_EQ(s->head.events, 10 * number);
        CHECK_EQ(vs_snapshot_thread(s, 0).goal, number);
        CHECK_EQ(vs_snapshot_thread(s, 1).last, number);
        CHECK_EQ(vs_snapshot_thread(s, 2).last, 0);
        CHECK_EQ(s->cores[CORE - 1], number & 255);
    }
    vs_snapshot_list_fini(&list);
    vs_buf_fini(&bytes);
    vs_whole_fini(&m);
    vs_whole_fini(&again);
    free(known);
}

/* Memory that cannot be packed is larger than all snapshots may be. */
TEST(does_without_what_is_too_large)
{
    static struct vs_whole_memory m;
    static struct vs_snapshot_list list;
    uint8_t bytes[VS_PAGE_SIZE];
    uint64_t state = 3;
    bool code = false;
    m.tracked = true;
    for (uint64_t addr = 0; addr < VS_SNAPSHOTS_BYTES + VS_PAGE_SIZE; addr += VS_PAGE_SIZE) {
        for (size_t i = 0; i < VS_PAGE_SIZE; i += 8) {
            uint64_t word = vs_random(&state);
            memcpy(bytes + i, &word, 8);
        }
        CHECK_EQ(vs_whole_put(&m, addr, bytes, sizeof(bytes), &code), 0);
    }
    add(&list, &m, 1);
    CHECK(list.none);
    CHECK_EQ(list.count, 0);
    CHECK_EQ(list.bytes, 0);
    vs_snapshot_list_fini(&list);
    vs_whole_fini(&m);
}

TEST(refuses_damaged_bytes)
{
    static struct vs_whole_memory m;
    static struct vs_snapshot_list list;
    static struct vs_packed_snapshots packed;
    struct vs_buf bytes = {0};
    uint64_t state = 9;
    m.tracked = true;
    for (uint64_t number = 1; number <= 3; number++) {
        change(&m, &state);
        add(&list, &m, number);
    }
    CHECK_EQ(vs_snapshot_list_pack(&list, &bytes), 0);
    CHECK_EQ(vs_snapshots_parse(&packed, bytes.data, bytes.len, 3, 2, CORE), 0);
    for (size_t size = 0; size < bytes.len; size++)
        CHECK_ERR(vs_snapshots_parse(&packed, bytes.data, size, 3, 2, CORE), VSE_CORRUPT);
    CHECK_ERR(vs_snapshots_parse(&packed, bytes.data, bytes.len, 2, 2, CORE), VSE_CORRUPT);
    CHECK_ERR(vs_snapshots_parse(&packed, bytes.data, bytes.len, 3, 1, CORE), VSE_CORRUPT);
    CHECK_ERR(vs_snapshots_parse(&packed, bytes.data, bytes.len, 65, 2, CORE), VSE_CORRUPT);
    vs_snapshot_list_fini(&list);
    vs_buf_fini(&bytes);
    vs_whole_fini(&m);
}
