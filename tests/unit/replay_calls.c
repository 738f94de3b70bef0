/* SPDX-License-Identifier: MIT */
/* What system calls are known to do to memory. */
#include <errno.h>
#include <string.h>

#include "isa/isa.h"
#include "replay/calls.h"
#include "target/linux.h"
#include "unittest.h"

struct range {
    uint64_t addr, size;
    bool exact;
};

struct told {
    struct range list[8];
    size_t count;
    const uint8_t *memory; /* at address 0x1000, of 64 bytes; NULL: it is not known */
};

static size_t read_memory(void *context, uint64_t addr, uint8_t *bytes, size_t size)
{
    const struct told *t = context;
    if (!t->memory || addr < 0x1000 || addr + size > 0x1040)
        return 0;
    memcpy(bytes, t->memory + (addr - 0x1000), size);
    return size;
}

static int wrote(void *context, uint64_t addr, uint64_t size, bool exact)
{
    struct told *t = context;
    CHECK(t->count < 8);
    t->list[t->count++] = (struct range){addr, size, exact};
    return 0;
}

static const struct vs_abi *rv64(void)
{
    return vs_isa_find("rv64")->abi;
}

static const struct vs_abi *x86(void)
{
    return vs_isa_find("x86-64")->abi;
}

static struct told tell(const struct vs_call_made *call, const uint8_t *memory)
{
    struct told t = {.memory = memory};
    const struct vs_call_memory m = {read_memory, wrote, &t};
    CHECK_EQ(vs_call_tell(call, &m), 0);
    return t;
}

static void check_range(const struct told *t, size_t i, uint64_t addr, uint64_t size)
{
    CHECK(i < t->count);
    CHECK_EQ(t->list[i].addr, addr);
    CHECK_EQ(t->list[i].size, size);
}

TEST(knows_every_call_of_the_platform)
{
    for (unsigned call = 0; call < VS_SYS_END; call++)
        if (vs_call_handler(call) && !vs_call_is_known(call))
            unittest_fail(__FILE__, __LINE__, "%s is not known", vs_syscall_name(call));
}

TEST(tells_what_a_result_says)
{
    struct told t = tell(&(struct vs_call_made){rv64(), VS_SYS_read, {3, 0x5000, 100}, 17}, NULL);
    CHECK_EQ(t.count, 1);
    check_range(&t, 0, 0x5000, 17);
    t = tell(&(struct vs_call_made){rv64(), VS_SYS_read, {3, 0x5000, 100}, (uint64_t)-EAGAIN},
             NULL);
    CHECK_EQ(t.count, 0);
}

TEST(tells_structures_of_their_size)
{
    struct told t =
        tell(&(struct vs_call_made){rv64(), VS_SYS_clock_gettime, {1, 0x5000}, 0}, NULL);
    CHECK_EQ(t.count, 1);
    check_range(&t, 0, 0x5000, 16);
    CHECK(t.list[0].exact);
    t = tell(&(struct vs_call_made){rv64(), VS_SYS_rt_sigaction, {2, 0x5000, 0, 8}, 0},
             NULL); /* the old one is not wanted */
    CHECK_EQ(t.count, 0);
}

TEST(tells_the_parts_of_a_vector)
{
    const uint64_t parts[4] = {0x6000, 4, 0x7000, 100};
    uint8_t memory[64] = {0};
    memcpy(memory, parts, sizeof(parts));
    const struct vs_call_made call = {rv64(), VS_SYS_readv, {3, 0x1000, 2}, 10};
    struct told t = tell(&call, memory);
    CHECK_EQ(t.count, 2);
    check_range(&t, 0, 0x6000, 4);
    check_range(&t, 1, 0x7000, 6);
    t = tell(&call, NULL);
    CHECK_EQ(t.count, 1);
    CHECK(t.list[0].size == VS_CALL_EVERYTHING);
}

TEST(is_cautious_with_a_call_that_failed_half_way)
{
    struct told t = tell(
        &(struct vs_call_made){rv64(), VS_SYS_gettimeofday, {0x5000, 8}, (uint64_t)-EFAULT}, NULL);
    CHECK_EQ(t.count, 2);
    CHECK(!t.list[0].exact);
}

TEST(fears_everything_of_a_call_it_does_not_know)
{
    struct told t = tell(&(struct vs_call_made){rv64(), VS_SYS_none, {0}, 0}, NULL);
    CHECK_EQ(t.count, 1);
    CHECK(t.list[0].size == VS_CALL_EVERYTHING);
    t = tell(&(struct vs_call_made){rv64(), VS_SYS_none, {0}, (uint64_t)-ENOSYS}, NULL);
    CHECK_EQ(t.count, 0);
}

TEST(tells_memory_that_moves)
{
    struct told t = tell(
        &(struct vs_call_made){rv64(), VS_SYS_mremap, {0x10000, 0x1000, 0x3000, 1}, 0x80000}, NULL);
    CHECK_EQ(t.count, 2);
    check_range(&t, 0, 0x10000, 0x1000);
    check_range(&t, 1, 0x80000, 0x3000);
    t = tell(&(struct vs_call_made){rv64(), VS_SYS_mremap, {0x10000, 0x1000, 0x3000, 1}, 0x10000},
             NULL);
    CHECK_EQ(t.count, 1);
    check_range(&t, 0, 0x11000, 0x2000);
}

TEST(knows_signals_that_are_sent)
{
    CHECK_EQ(vs_call_signal(&(struct vs_call_made){rv64(), VS_SYS_tgkill, {1000, 1000, 6}, 0}), 6);
    CHECK_EQ(vs_call_signal(&(struct vs_call_made){rv64(), VS_SYS_kill, {1000, 10}, 0}), 10);
    CHECK_EQ(vs_call_signal(&(struct vs_call_made){rv64(), VS_SYS_read, {0, 1, 2}, 0}), 0);
}

/* A structure's size, and the order of clone's last arguments, are the ISA's. */
TEST(tells_what_the_abi_says)
{
    enum { SETTID = 0x01000000 };
    struct told t = tell(&(struct vs_call_made){rv64(), VS_SYS_fstat, {1, 0x5000}, 0}, NULL);
    check_range(&t, 0, 0x5000, 128);
    t = tell(&(struct vs_call_made){x86(), VS_SYS_fstat, {1, 0x5000}, 0}, NULL);
    check_range(&t, 0, 0x5000, 144);
    t = tell(&(struct vs_call_made){x86(), VS_SYS_rt_sigaction, {2, 0, 0x5000, 8}, 0}, NULL);
    check_range(&t, 0, 0x5000, 32);
    t = tell(&(struct vs_call_made){rv64(), VS_SYS_clone, {SETTID, 1, 0, 0x6000, 0x7000}, 5}, NULL);
    check_range(&t, 0, 0x7000, 4);
    t = tell(&(struct vs_call_made){x86(), VS_SYS_clone, {SETTID, 1, 0, 0x6000, 0x7000}, 5}, NULL);
    check_range(&t, 0, 0x6000, 4);
}

/* Calls that only a real kernel has here. */
TEST(tells_what_native_calls_write)
{
    static const struct {
        struct vs_call_made call;
        struct range ranges[3];
    } cases[] = {
        {{NULL, VS_SYS_stat, {1, 0x5000}, 0}, {{0x5000, 144, true}}},
        {{NULL, VS_SYS_pipe, {0x5000}, 0}, {{0x5000, 8, true}}},
        {{NULL, VS_SYS_getdents, {3, 0x5000, 4096}, 48}, {{0x5000, 48, true}}},
        {{NULL, VS_SYS_epoll_wait, {3, 0x5000, 8}, 2}, {{0x5000, 24, true}}},
        {{NULL, VS_SYS_time, {0x5000}, 99}, {{0x5000, 8, true}}},
        {{NULL, VS_SYS_arch_prctl, {0x1003, 0x5000}, 0}, {{0x5000, 8, true}}},
        {{NULL, VS_SYS_arch_prctl, {0x1002, 0x5000}, 0}, {{0}}},
        {{NULL, VS_SYS_getxattr, {1, 2, 0x5000, 0}, 7}, {{0}}},
        {{NULL, VS_SYS_getxattr, {1, 2, 0x5000, 9}, 7}, {{0x5000, 7, true}}},
        {{NULL, VS_SYS_wait4, {1, 0x5000, 0, 0x6000}, 9}, {{0x5000, 4, true}, {0x6000, 144, true}}},
        {{NULL, VS_SYS_wait4, {1, 0x5000, 0, 0x6000}, 0}, {{0}}},
        {{NULL, VS_SYS_accept, {3, 0x5000, 0x1000}, 4}, {{0x5000, 16, false}, {0x1000, 4, false}}},
        {{NULL, VS_SYS_recvfrom, {3, 0x5000, 8, 0, 0, 0}, 6}, {{0x5000, 6, true}}},
        {{NULL, VS_SYS_sendmmsg, {3, 0x5000, 2}, 1}, {{0x5000 + 56, 4, true}}},
        {{NULL, VS_SYS_execve, {1, 2, 3}, 0}, {{0}}},
    };
    static const uint8_t memory[64] = {16};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct vs_call_made call = cases[i].call;
        call.abi = x86();
        struct told t = tell(&call, memory);
        size_t count = 0;
        for (; count < 3 && cases[i].ranges[count].size; count++) {
            check_range(&t, count, cases[i].ranges[count].addr, cases[i].ranges[count].size);
            CHECK_EQ(t.list[count].exact, cases[i].ranges[count].exact);
        }
        CHECK_EQ(t.count, count);
        call.result = (uint64_t)-EINVAL;
        CHECK_EQ(tell(&call, memory).count, 0);
    }
}

/* A message has parts, a sender and more. */
TEST(tells_a_message_that_was_received)
{
    const uint64_t header[7] = {0x5000, 16, 0x1038, 0, 0x6000, 24, 0};
    uint8_t memory[64] = {0};
    memcpy(memory, header, sizeof(header));
    struct told t = tell(&(struct vs_call_made){x86(), VS_SYS_recvmsg, {3, 0x1000}, 5}, memory);
    CHECK_EQ(t.count, 3);
    check_range(&t, 0, 0x5000, 16);
    check_range(&t, 1, 0x6000, 24);
    check_range(&t, 2, 0x1000, 56);
    t = tell(&(struct vs_call_made){x86(), VS_SYS_recvmsg, {3, 0x1000}, 5}, NULL);
    CHECK(t.list[0].size == VS_CALL_EVERYTHING);
}
