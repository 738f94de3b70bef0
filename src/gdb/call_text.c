/* SPDX-License-Identifier: MIT */
#include "gdb/call_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN = 48 }; /* bytes of a string */

/* What the arguments are: d a signed number of 32 bits, u a size, x flags, o a mode, p an address,
 * s a path, b bytes that are written, whose number is the next argument, S a signal. Of a call that
 * is not here all six registers are shown. */
static const struct {
    uint16_t call;
    const char *args;
} shapes[] = {
    {VS_SYS_accept, "dpp"},
    {VS_SYS_accept4, "dppx"},
    {VS_SYS_access, "so"},
    {VS_SYS_alarm, "u"},
    {VS_SYS_arch_prctl, "xp"},
    {VS_SYS_bind, "dpu"},
    {VS_SYS_brk, "p"},
    {VS_SYS_chdir, "s"},
    {VS_SYS_chmod, "so"},
    {VS_SYS_clock_getres, "dp"},
    {VS_SYS_clock_gettime, "dp"},
    {VS_SYS_clock_nanosleep, "dxpp"},
    {VS_SYS_clone, "xpppp"},
    {VS_SYS_clone3, "pu"},
    {VS_SYS_close, "d"},
    {VS_SYS_connect, "dpu"},
    {VS_SYS_creat, "so"},
    {VS_SYS_dup, "d"},
    {VS_SYS_dup2, "dd"},
    {VS_SYS_dup3, "ddx"},
    {VS_SYS_epoll_create1, "x"},
    {VS_SYS_epoll_ctl, "dddp"},
    {VS_SYS_epoll_pwait, "dpddpu"},
    {VS_SYS_epoll_wait, "dpdd"},
    {VS_SYS_eventfd2, "ux"},
    {VS_SYS_execve, "spp"},
    {VS_SYS_exit, "d"},
    {VS_SYS_exit_group, "d"},
    {VS_SYS_faccessat, "dso"},
    {VS_SYS_faccessat2, "dsox"},
    {VS_SYS_fadvise64, "duud"},
    {VS_SYS_fallocate, "dxuu"},
    {VS_SYS_fchmod, "do"},
    {VS_SYS_fcntl, "ddx"},
    {VS_SYS_fdatasync, "d"},
    {VS_SYS_flock, "dx"},
    {VS_SYS_fork, ""},
    {VS_SYS_fstat, "dp"},
    {VS_SYS_fstatfs, "dp"},
    {VS_SYS_fsync, "d"},
    {VS_SYS_ftruncate, "du"},
    {VS_SYS_futex, "pxdppd"},
    {VS_SYS_getcwd, "pu"},
    {VS_SYS_getdents64, "dpu"},
    {VS_SYS_getegid, ""},
    {VS_SYS_geteuid, ""},
    {VS_SYS_getgid, ""},
    {VS_SYS_getpid, ""},
    {VS_SYS_getppid, ""},
    {VS_SYS_getrandom, "pux"},
    {VS_SYS_getrlimit, "dp"},
    {VS_SYS_getsockname, "dpp"},
    {VS_SYS_getsockopt, "dddpp"},
    {VS_SYS_gettid, ""},
    {VS_SYS_gettimeofday, "pp"},
    {VS_SYS_getuid, ""},
    {VS_SYS_ioctl, "dxp"},
    {VS_SYS_kill, "dS"},
    {VS_SYS_listen, "dd"},
    {VS_SYS_lseek, "dud"},
    {VS_SYS_lstat, "sp"},
    {VS_SYS_madvise, "pud"},
    {VS_SYS_mkdir, "so"},
    {VS_SYS_mkdirat, "dso"},
    {VS_SYS_mmap, "puxxdu"},
    {VS_SYS_mprotect, "pux"},
    {VS_SYS_mremap, "puuxp"},
    {VS_SYS_munmap, "pu"},
    {VS_SYS_nanosleep, "pp"},
    {VS_SYS_newfstatat, "dspx"},
    {VS_SYS_open, "sxo"},
    {VS_SYS_openat, "dsxo"},
    {VS_SYS_pause, ""},
    {VS_SYS_pipe, "p"},
    {VS_SYS_pipe2, "px"},
    {VS_SYS_poll, "pud"},
    {VS_SYS_ppoll, "puppu"},
    {VS_SYS_prctl, "dxxxx"},
    {VS_SYS_pread64, "dpuu"},
    {VS_SYS_prlimit64, "ddpp"},
    {VS_SYS_pwrite64, "dbuu"},
    {VS_SYS_read, "dpu"},
    {VS_SYS_readlink, "spu"},
    {VS_SYS_readlinkat, "dspu"},
    {VS_SYS_readv, "dpu"},
    {VS_SYS_recvfrom, "dpuxpp"},
    {VS_SYS_recvmsg, "dpx"},
    {VS_SYS_rename, "ss"},
    {VS_SYS_renameat, "dsds"},
    {VS_SYS_renameat2, "dsdsx"},
    {VS_SYS_riscv_flush_icache, "ppx"},
    {VS_SYS_rmdir, "s"},
    {VS_SYS_rseq, "puxx"},
    {VS_SYS_rt_sigaction, "Sppu"},
    {VS_SYS_rt_sigprocmask, "dppu"},
    {VS_SYS_rt_sigreturn, ""},
    {VS_SYS_rt_sigsuspend, "pu"},
    {VS_SYS_sched_getaffinity, "dup"},
    {VS_SYS_sched_yield, ""},
    {VS_SYS_select, "dpppp"},
    {VS_SYS_sendfile, "ddpu"},
    {VS_SYS_sendmsg, "dpx"},
    {VS_SYS_sendto, "dbuxpu"},
    {VS_SYS_set_robust_list, "pu"},
    {VS_SYS_set_tid_address, "p"},
    {VS_SYS_setitimer, "dpp"},
    {VS_SYS_setsockopt, "dddpu"},
    {VS_SYS_shutdown, "dd"},
    {VS_SYS_sigaltstack, "pp"},
    {VS_SYS_socket, "ddd"},
    {VS_SYS_socketpair, "dddp"},
    {VS_SYS_stat, "sp"},
    {VS_SYS_statfs, "sp"},
    {VS_SYS_statx, "dsxxp"},
    {VS_SYS_symlink, "ss"},
    {VS_SYS_sysinfo, "p"},
    {VS_SYS_tgkill, "ddS"},
    {VS_SYS_times, "p"},
    {VS_SYS_tkill, "dS"},
    {VS_SYS_truncate, "su"},
    {VS_SYS_umask, "o"},
    {VS_SYS_uname, "p"},
    {VS_SYS_unlink, "s"},
    {VS_SYS_unlinkat, "dsx"},
    {VS_SYS_vfork, ""},
    {VS_SYS_wait4, "dpxp"},
    {VS_SYS_write, "dbu"},
    {VS_SYS_writev, "dpu"},
};

static void __attribute__((format(printf, 2, 3))) add(char *text, const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, VS_GDB_CALL_TEXT - used, format, args);
    va_end(args);
}

void vs_gdb_escape(char *text, size_t capacity, const uint8_t *bytes, size_t size)
{
    static const char letters[] = "n\nt\tr\r\"\"\\\\";
    size_t used = strlen(text);
    for (size_t i = 0; i < size && used + 5 < capacity; i++) {
        char c = (char)bytes[i];
        const char *letter = letters;
        while (*letter && letter[1] != c)
            letter += 2;
        if (*letter && c)
            used += (size_t)snprintf(text + used, capacity - used, "\\%c", *letter);
        else if (bytes[i] < 0x20 || bytes[i] == 0x7f)
            used += (size_t)snprintf(text + used, capacity - used, "\\%03o", bytes[i]);
        else
            text[used++] = c;
    }
    text[used] = 0;
}

/* Adds a string of at most `most` bytes; with `ends`, it ends with a NUL. */
static void add_string(struct vs_replay *r, unsigned core, char *text, uint64_t addr, uint64_t most,
                       bool ends)
{
    uint8_t bytes[SHOWN];
    size_t size = most < SHOWN ? (size_t)most : SHOWN;
    size_t known = vs_replay_read(r, core, addr, bytes, size);
    const uint8_t *nul = ends ? memchr(bytes, 0, known) : NULL;
    if (!known && size) {
        add(text, "0x%" PRIx64, addr);
        return;
    }
    add(text, "\"");
    vs_gdb_escape(text, VS_GDB_CALL_TEXT, bytes, nul ? (size_t)(nul - bytes) : known);
    add(text, nul || (!ends && known == most) ? "\"" : "\"...");
}

static void add_argument(struct vs_replay *r, unsigned core, char *text, char kind,
                         const uint64_t *arg)
{
    const char *signal = kind == 'S' ? vs_signal_name(*arg) : NULL;
    switch (kind) {
    case 'd':
        add(text, "%d", (int)*arg);
        break;
    case 'u':
        add(text, "%" PRIu64, *arg);
        break;
    case 'o':
        add(text, "0%" PRIo64, *arg & 07777777);
        break;
    case 's':
        add_string(r, core, text, *arg, SHOWN, true);
        break;
    case 'b':
        add_string(r, core, text, *arg, arg[1], false);
        break;
    default:
        if (signal)
            add(text, "SIG%s", signal);
        else
            add(text, *arg || kind != 'p' ? "0x%" PRIx64 : "NULL", *arg);
    }
}

static void add_result(char *text, enum vs_syscall call, uint64_t result)
{
    if (call == VS_SYS_exit || call == VS_SYS_exit_group)
        return;
    int64_t value = (int64_t)result;
    const char *name = value < 0 && value >= -4095 ? strerrorname_np((int)-value) : NULL;
    if (name)
        add(text, " = -1 %s", name);
    else if (call == VS_SYS_mmap || call == VS_SYS_brk || call == VS_SYS_mremap ||
             call == VS_SYS_shmat || call == VS_SYS_none)
        add(text, " = 0x%" PRIx64, result);
    else
        add(text, " = %" PRId64, value);
}

void vs_gdb_call_text(struct vs_replay *r, unsigned core, char text[VS_GDB_CALL_TEXT])
{
    const struct vs_call_made *c = &r->cores[core].call;
    const char *name = vs_syscall_name(c->what), *shape = "xxxxxx";
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        if (shapes[i].call == c->what)
            shape = shapes[i].args;
    text[0] = 0;
    add(text, "%s(", name ? name : "unknown call");
    for (unsigned i = 0; shape[i]; i++) {
        add(text, i ? ", " : "");
        add_argument(r, core, text, shape[i], &c->args[i]);
    }
    add(text, ")");
    add_result(text, c->what, c->result);
}
