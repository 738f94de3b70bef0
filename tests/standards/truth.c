/* SPDX-License-Identifier: MIT */
/* truth RUN FILE: for each thread of a run, how many instructions it executed and a hash of their
 * addresses, from the run's branches and the lengths of the instructions between them. */
#include "rv64_code.h"
#include "vestige/run.h"

enum { THREADS = 64 };

struct thread {
    struct executed executed;
    uint64_t pc;
    bool alive;
};

static void go(struct thread *t, struct code *c, unsigned count)
{
    for (; count; count--) {
        execute(&t->executed, t->pc);
        t->pc += insn_at(c, t->pc).length;
    }
}

static void take(struct thread *t, struct code *c, const struct vs_batch *b,
                 const struct vs_event *e)
{
    if (t->alive)
        go(t, c, e->icount);
    switch (e->kind) {
    case VS_BRANCH:
        if (e->flags & VS_BR_TAKEN)
            t->pc = e->addr;
        break;
    case VS_SYSCALL:
        vs_syscall_resumes(b, e, &t->pc);
        break;
    case VS_EXCEPTION:
    case VS_EXCEPTION_RET:
        t->pc = e->addr;
        break;
    case VS_THREAD_START:
    case VS_GAP:
        t->pc = e->pc;
        t->alive = true;
        break;
    case VS_THREAD_EXIT:
        t->alive = false;
        break;
    default:
        break;
    }
}

int main(int argc, char **argv)
{
    static struct thread threads[THREADS];
    struct vs_reader *r;
    struct vs_batch b;
    struct vs_diag diag;
    if (argc != 3 || vs_reader_open(&r, argv[1], VS_OPEN_STRICT, &diag) < 0)
        return 2;
    struct code c = load_code(argv[2]);
    while (vs_reader_next(r, &b) > 0)
        for (size_t i = 0; i < b.count; i++) {
            if (b.events[i].thread >= THREADS)
                fail("a thread too many", b.events[i].thread);
            take(&threads[b.events[i].thread], &c, &b, &b.events[i]);
        }
    for (unsigned i = 0; i < vs_reader_info(r)->threads; i++)
        printf("%llu %016llx\n", (unsigned long long)threads[i].executed.count,
               (unsigned long long)threads[i].executed.hash);
    vs_reader_close(r);
    free_code(&c);
    return 0;
}
