/* SPDX-License-Identifier: MIT */
#include "rerun/whole_memory.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/diag.h"
#include "base/file_part.h"

static void remove_all(struct vs_whole_memory *m)
{
    for (struct vs_map_entry *e = NULL; (e = vs_map_next(&m->pages, e));)
        free(e->pointer);
    vs_map_fini(&m->pages);
    memset(m->recent, 0, sizeof(m->recent));
}

void vs_whole_fini(struct vs_whole_memory *m)
{
    remove_all(m);
    free(m->changes);
    m->changes = NULL;
    m->change_count = m->change_room = 0;
    m->emptied = m->lost = false;
}

/* ---- what changes ---------------------------------------------------------------------------- */

static void note_change(struct vs_whole_memory *m, uint64_t number)
{
    if (vs_array_room((void **)&m->changes, &m->change_room, m->change_count, 1,
                      sizeof(*m->changes)))
        m->lost = true;
    else
        m->changes[m->change_count++] = number;
}

static void note_write(struct vs_whole_memory *m, struct vs_whole_page *page, uint64_t number)
{
    if (m->tracked && !page->changed)
        note_change(m, number);
    page->changed = true;
    page->noted = page->code;
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

int vs_whole_changes(struct vs_whole_memory *m)
{
    size_t n = 0;
    if (m->lost)
        return -VSE_NOMEM;
    if (m->change_count)
        qsort(m->changes, m->change_count, sizeof(*m->changes), by_number);
    for (size_t i = 0; i < m->change_count; i++)
        if (!n || m->changes[n - 1] != m->changes[i])
            m->changes[n++] = m->changes[i];
    m->change_count = n;
    return 0;
}

void vs_whole_settle(struct vs_whole_memory *m)
{
    for (size_t i = 0; i < m->change_count; i++) {
        struct vs_whole_page *page = vs_map_pointer(&m->pages, m->changes[i]);
        if (page) {
            page->changed = false;
            page->noted = true;
        }
    }
    m->change_count = 0;
    m->emptied = m->lost = false;
}

/* ---- pages ----------------------------------------------------------------------------------- */

struct vs_whole_page *vs_whole_page_other(struct vs_whole_memory *m, uint64_t number)
{
    struct vs_whole_page *page = vs_map_pointer(&m->pages, number);
    if (!page) {
        page = m->limit && m->pages.count >= m->limit ? NULL : aligned_alloc(64, sizeof(*page));
        if (!page)
            return NULL;
        memset(page, 0, sizeof(*page));
        page->noted = m->tracked;
        if (vs_map_set_pointer(&m->pages, number, page)) {
            free(page);
            return NULL;
        }
    }
    m->recent[number % VS_WHOLE_RECENT] = (struct vs_whole_recent){number, page};
    return page;
}

static size_t part_of_page(uint64_t addr, size_t size)
{
    size_t room = (size_t)(VS_PAGE_SIZE - addr % VS_PAGE_SIZE);
    return size < room ? size : room;
}

int vs_whole_get_any(struct vs_whole_memory *m, uint64_t addr, void *bytes, size_t size)
{
    for (uint8_t *to = bytes; size;) {
        size_t n = part_of_page(addr, size);
        const struct vs_whole_page *page = vs_whole_page(m, addr / VS_PAGE_SIZE);
        if (!page)
            return -VSE_NOMEM;
        memcpy(to, page->bytes + addr % VS_PAGE_SIZE, n);
        to += n, addr += n, size -= n;
    }
    return 0;
}

int vs_whole_put_any(struct vs_whole_memory *m, uint64_t addr, const void *bytes, size_t size,
                     bool *code)
{
    for (const uint8_t *from = bytes; size;) {
        size_t n = part_of_page(addr, size);
        struct vs_whole_page *page = vs_whole_page(m, addr / VS_PAGE_SIZE);
        if (!page)
            return -VSE_NOMEM;
        if (page->noted)
            note_write(m, page, addr / VS_PAGE_SIZE);
        memcpy(page->bytes + addr % VS_PAGE_SIZE, from, n);
        *code |= page->code;
        from += n, addr += n, size -= n;
    }
    return 0;
}

/* ---- pages that go --------------------------------------------------------------------------- */

static void drop_page(struct vs_whole_memory *m, uint64_t number)
{
    struct vs_whole_page *page = vs_map_pointer(&m->pages, number);
    struct vs_whole_recent *recent = &m->recent[number % VS_WHOLE_RECENT];
    if (!page)
        return;
    if (recent->number == number)
        recent->page = NULL;
    free(page);
    vs_map_remove(&m->pages, number);
    if (m->tracked)
        note_change(m, number);
}

/* Drops pages within a range that has more pages than there are. Removing one moves others, so that
 * they are listed first, some at a time. Returns whether there may be more. */
static bool drop_within(struct vs_whole_memory *m, uint64_t first, uint64_t count)
{
    uint64_t numbers[1024];
    size_t n = 0;
    for (struct vs_map_entry *e = NULL;
         n < sizeof(numbers) / sizeof(*numbers) && (e = vs_map_next(&m->pages, e));)
        if (e->key - first < count)
            numbers[n++] = e->key;
    for (size_t i = 0; i < n; i++)
        drop_page(m, numbers[i]);
    return n == sizeof(numbers) / sizeof(*numbers);
}

static void drop_pages(struct vs_whole_memory *m, uint64_t first, uint64_t count)
{
    if (count <= m->pages.count) {
        for (uint64_t i = 0; i < count; i++)
            drop_page(m, first + i);
    } else if (count > UINT64_MAX / VS_PAGE_SIZE / 4) {
        remove_all(m); /* another program begins */
        m->change_count = 0;
        m->emptied = true;
    } else {
        while (drop_within(m, first, count))
            ;
    }
}

static void clear_part(struct vs_whole_memory *m, uint64_t addr, uint64_t size)
{
    struct vs_whole_page *page = vs_map_pointer(&m->pages, addr / VS_PAGE_SIZE);
    if (!page)
        return;
    if (page->noted)
        note_write(m, page, addr / VS_PAGE_SIZE);
    memset(page->bytes + addr % VS_PAGE_SIZE, 0, (size_t)size);
}

void vs_whole_clear(struct vs_whole_memory *m, uint64_t addr, uint64_t size)
{
    uint64_t before = -addr % VS_PAGE_SIZE;
    if (before > size)
        before = size;
    if (before)
        clear_part(m, addr, before);
    addr += before, size -= before;
    if (size >= VS_PAGE_SIZE)
        drop_pages(m, addr / VS_PAGE_SIZE, size / VS_PAGE_SIZE);
    if (size % VS_PAGE_SIZE)
        clear_part(m, addr + size / VS_PAGE_SIZE * VS_PAGE_SIZE, size % VS_PAGE_SIZE);
}

int vs_whole_set(struct vs_whole_memory *m, uint64_t number, const uint8_t *bytes, bool *code)
{
    struct vs_whole_page *page = vs_map_pointer(&m->pages, number);
    *code = page && page->code;
    if (bytes)
        return vs_whole_put_any(m, number * VS_PAGE_SIZE, bytes, VS_PAGE_SIZE, code);
    drop_page(m, number);
    return 0;
}

/* ---- content --------------------------------------------------------------------------------- */

struct filling {
    struct vs_whole_memory *memory;
    uint64_t addr;
};

static int fill(void *context, uint64_t at, const uint8_t *bytes, size_t size)
{
    const struct filling *f = context;
    bool code = false;
    return vs_whole_put(f->memory, f->addr + at, bytes, size, &code);
}

static int content_of_file(struct vs_whole_memory *m, const struct vs_event *e,
                           const uint8_t *payload, struct vs_diag *diag)
{
    struct filling f = {m, e->addr};
    struct vs_content_file file;
    char path[PATH_MAX];
    size_t length = e->size - sizeof(file);
    uint32_t crc;
    memcpy(&file, payload, sizeof(file));
    if (length >= sizeof(path))
        return -VSE_CORRUPT;
    memcpy(path, payload + sizeof(file), length);
    path[length] = 0;
    vs_whole_clear(m, e->addr, file.length);
    int err = vs_file_part(path, file.offset, file.length, fill, &f, &crc, diag);
    if (err == 0 && crc != file.crc)
        return vs_diag_set(
            diag, -VSE_CHECKSUM, -1, -1,
            "%s is not what it was when the run was recorded: its bytes from %llu on "
            "differ; bring the old file back",
            path, (unsigned long long)file.offset);
    if (err && err != -VSE_NOMEM)
        return vs_diag_set(diag, err, -1, -1,
                           "%s cannot be read, which the program had mapped; bring it back", path);
    return err;
}

/* The numbers of the pages within a range, of which there may be far fewer than it has room for.
 * Returns how many there are; -VSE_NOMEM. */
static int64_t list_pages(const struct vs_whole_memory *m, uint64_t first, uint64_t count,
                          uint64_t **numbers)
{
    int64_t n = 0;
    *numbers = malloc((m->pages.count + 1) * sizeof(**numbers));
    if (!*numbers)
        return -VSE_NOMEM;
    for (struct vs_map_entry *e = NULL; (e = vs_map_next(&m->pages, e));)
        if (e->key - first < count)
            (*numbers)[n++] = e->key;
    return n;
}

/* Whole pages move. What was never written stays so. */
static int content_moved(struct vs_whole_memory *m, const struct vs_event *e,
                         const uint8_t *payload)
{
    struct vs_content_moved moved;
    uint8_t bytes[VS_PAGE_SIZE];
    uint64_t *numbers;
    bool code = false;
    memcpy(&moved, payload, sizeof(moved));
    if (e->addr % VS_PAGE_SIZE || moved.from % VS_PAGE_SIZE)
        return -VSE_CORRUPT;
    uint64_t first = moved.from / VS_PAGE_SIZE;
    int64_t count =
        list_pages(m, first, (moved.length + VS_PAGE_SIZE - 1) / VS_PAGE_SIZE, &numbers);
    int err = count < 0 ? (int)count : 0;
    for (int64_t i = 0; i < count && !err; i++) {
        err = vs_whole_get(m, numbers[i] * VS_PAGE_SIZE, bytes, sizeof(bytes));
        if (!err)
            err = vs_whole_put(m, e->addr + (numbers[i] - first) * VS_PAGE_SIZE, bytes,
                               sizeof(bytes), &code);
    }
    if (count >= 0)
        free(numbers);
    return err;
}

int vs_whole_content(struct vs_whole_memory *m, const struct vs_event *e, const uint8_t *payload,
                     struct vs_diag *diag)
{
    bool code = false;
    uint64_t length;
    if (e->flags & VS_CONTENT_FILE)
        return content_of_file(m, e, payload, diag);
    if (e->flags & VS_CONTENT_MOVED)
        return content_moved(m, e, payload);
    if (e->flags & VS_CONTENT_ANEW) {
        memcpy(&length, payload, sizeof(length));
        vs_whole_clear(m, e->addr, length);
        return 0;
    }
    return vs_whole_put(m, e->addr, payload, e->size, &code);
}
