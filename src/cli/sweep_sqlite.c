/* SPDX-License-Identifier: MIT */
#include "cli/sweep_sqlite.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sweep/store.h"

struct writing {
    const struct sweep_rows *rows;
    sqlite3 *db;
    sqlite3_stmt *insert;
};

/* "CREATE TABLE results (point INTEGER, kind TEXT, ...)" or the statement that inserts a row. A
 * column's name is quoted, since it may be a word of SQL. */
static int statement(struct vs_buf *text, const struct sweep_rows *r, bool create)
{
    int e = vs_buf_print(text, "%s",
                         create ? "CREATE TABLE results (point INTEGER"
                                : "INSERT INTO results VALUES (?");
    for (size_t i = 0; i < r->shown && !e; i++) {
        const struct vs_sweep_column *c = &r->table->columns[i];
        e = create ? vs_buf_print(text, ", \"%s\" %s", c->name, c->text ? "TEXT" : "INTEGER")
                   : vs_buf_print(text, ", ?");
    }
    return e ? e : vs_buf_print(text, ")");
}

static int execute(sqlite3 *db, const char *text)
{
    return sqlite3_exec(db, text, NULL, NULL, NULL);
}

static int insert_row(void *context, const struct vs_sweep_row *row, char *text)
{
    const struct writing *w = context;
    sqlite3_bind_int64(w->insert, 1, (sqlite3_int64)row->point);
    for (size_t i = 0; i < w->rows->shown; i++) {
        struct vs_sweep_cell cell = vs_sweep_table_cell(w->rows->table, row, i, text);
        int at = (int)i + 2;
        if (cell.text)
            sqlite3_bind_text(w->insert, at, cell.text, -1, SQLITE_TRANSIENT);
        else if (cell.known)
            sqlite3_bind_int64(w->insert, at, (sqlite3_int64)cell.number);
        else
            sqlite3_bind_null(w->insert, at);
    }
    if (sqlite3_step(w->insert) != SQLITE_DONE)
        return -VSE_IO;
    sqlite3_reset(w->insert);
    return 0;
}

static int insert_frontier(sqlite3 *db, const struct vs_sweep_table *t, const size_t *points,
                           size_t count)
{
    static const char create[] = "CREATE TABLE frontier (point INTEGER, spec TEXT, \"%s\" INTEGER, "
                                 "\"%s\" INTEGER)";
    char text[300];
    sqlite3_stmt *insert = NULL;
    struct vs_sweep_row row;
    uint64_t x, y;
    snprintf(text, sizeof(text), create, t->columns[t->objectives[0]].name,
             t->columns[t->objectives[1]].name);
    int e = execute(db, text);
    e = e ? e : sqlite3_prepare_v2(db, "INSERT INTO frontier VALUES (?, ?, ?, ?)", -1, &insert, 0);
    for (size_t i = 0; i < count && !e; i++) {
        if (!vs_sweep_table_objectives(t, points[i], &row, &x, &y))
            continue;
        sqlite3_bind_int64(insert, 1, (sqlite3_int64)points[i]);
        sqlite3_bind_text(insert, 2, t->sweep->points.items[points[i]].spec, -1, SQLITE_TRANSIENT);
        sqlite3_bind_int64(insert, 3, (sqlite3_int64)x);
        sqlite3_bind_int64(insert, 4, (sqlite3_int64)y);
        e = sqlite3_step(insert) == SQLITE_DONE ? 0 : sqlite3_errcode(db);
        sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    return e;
}

/* Returns 0, or an error of SQLite. */
static int fill(struct writing *w, const char *partial, const size_t *frontier, size_t count)
{
    struct vs_buf create = {0}, insert = {0};
    int e = sqlite3_open_v2(
        partial, &w->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXCLUSIVE, NULL);
    if (!e)
        e = statement(&create, w->rows, true) || statement(&insert, w->rows, false) ? SQLITE_NOMEM
                                                                                    : 0;
    e = e ? e : execute(w->db, "PRAGMA journal_mode = OFF");
    e = e ? e : execute(w->db, "BEGIN");
    e = e ? e : execute(w->db, (const char *)create.data);
    e = e ? e : sqlite3_prepare_v2(w->db, (const char *)insert.data, -1, &w->insert, NULL);
    if (!e && sweep_each_row(w->rows, insert_row, w))
        e = sqlite3_errcode(w->db) ? sqlite3_errcode(w->db) : SQLITE_NOMEM;
    e = e ? e : insert_frontier(w->db, w->rows->table, frontier, count);
    e = e ? e : execute(w->db, "COMMIT");
    sqlite3_finalize(w->insert);
    vs_buf_fini(&create);
    vs_buf_fini(&insert);
    return e;
}

int sweep_write_sqlite(struct cli *cli, const char *path, bool overwrite,
                       const struct sweep_rows *rows, const size_t *frontier, size_t frontier_count)
{
    struct writing w = {.rows = rows};
    char *partial;
    int status = CLI_USAGE;
    if (!overwrite && access(path, F_OK) == 0) {
        cli_error(cli, "%s: exists; -f replaces it", path);
        return CLI_USAGE;
    }
    if (asprintf(&partial, "%s.partial", path) < 0) {
        cli_error(cli, "out of memory");
        return CLI_USAGE;
    }
    unlink(partial); /* left by one that was killed */
    int e = fill(&w, partial, frontier, frontier_count);
    if (e)
        cli_error(cli, "%s: cannot write: %s", path,
                  w.db ? sqlite3_errmsg(w.db) : sqlite3_errstr(e));
    int closed = sqlite3_close(w.db);
    if (!e && closed)
        cli_error(cli, "%s: cannot write: %s", path, sqlite3_errstr(closed));
    else if (!e && rename(partial, path))
        cli_error(cli, "%s: cannot rename: %s", path, strerror(errno));
    else if (!e)
        status = CLI_DONE;
    if (status != CLI_DONE)
        unlink(partial);
    free(partial);
    return status;
}
