/* SPDX-License-Identifier: MIT */
/* What the kernel writes for calls on sockets. */
#ifndef REAL_KERNEL_SOCKETS_H
#define REAL_KERNEL_SOCKETS_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "real_kernel.h"

static socklen_t *length(int place, socklen_t value)
{
    *(socklen_t *)at(place) = value;
    return at(place);
}

static void options(int fd, int tcp)
{
    static const struct {
        int level, name;
    } of[] = {{SOL_SOCKET, SO_TYPE},     {SOL_SOCKET, SO_ERROR},      {SOL_SOCKET, SO_SNDBUF},
              {SOL_SOCKET, SO_RCVBUF},   {SOL_SOCKET, SO_LINGER},     {SOL_SOCKET, SO_RCVTIMEO},
              {SOL_SOCKET, SO_PEERCRED}, {SOL_SOCKET, SO_PEERSEC},    {SOL_SOCKET, SO_DOMAIN},
              {SOL_SOCKET, SO_PROTOCOL}, {SOL_SOCKET, SO_COOKIE},     {SOL_SOCKET, SO_ACCEPTCONN},
              {SOL_SOCKET, SO_PEERNAME}, {SOL_SOCKET, SO_PEERGROUPS}, {SOL_SOCKET, SO_MEMINFO},
              {SOL_SOCKET, 9999}};
    static const int of_tcp[] = {TCP_NODELAY,  TCP_INFO,    TCP_CONGESTION,  TCP_MAXSEG,
                                 TCP_KEEPIDLE, TCP_CC_INFO, TCP_USER_TIMEOUT};

    for (unsigned i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
        CALL("getsockopt", getsockopt(fd, of[i].level, of[i].name, at(0), length(1, 256)));
        CALL("getsockopt short", getsockopt(fd, of[i].level, of[i].name, at(0), length(1, 2)));
    }
    for (unsigned i = 0; i < sizeof(of_tcp) / sizeof(of_tcp[0]); i++) {
        CALL("getsockopt of TCP",
             getsockopt(tcp, IPPROTO_TCP, of_tcp[i], at(0), length(1, i == 1 ? 20 : 256)));
        CALL("getsockopt of another",
             getsockopt(fd, IPPROTO_TCP, of_tcp[i], at(0), length(1, 256)));
    }
    CALL("getsockopt of IP", getsockopt(tcp, IPPROTO_IP, IP_TTL, at(0), length(1, 4)));
    CALL("getsockopt of IP, a byte", getsockopt(tcp, IPPROTO_IP, IP_TOS, at(0), length(1, 1)));
    CALL("SIOCOUTQ", ioctl(tcp, TIOCOUTQ, at(0)));
    CALL("SIOCINQ", ioctl(tcp, FIONREAD, at(0)));
    CALL("SIOCATMARK", ioctl(tcp, 0x8905, at(0)));
    CALL("SIOCGPGRP", ioctl(tcp, 0x8904, at(0)));
    CALL("FIOGETOWN", ioctl(tcp, 0x8903, at(0)));
    CALL("SIOCGSTAMP", ioctl(fd, 0x8906, at(0)));
    CALL("SIOCGSTAMPNS", ioctl(fd, 0x8907, at(0)));
}

static struct msghdr *message(int place, void *name, void *to, size_t size, void *ancillary,
                              size_t ancillary_size)
{
    struct msghdr *m = at(place);
    struct iovec *v = (struct iovec *)(m + 1);

    *v = (struct iovec){to, size};
    *m = (struct msghdr){.msg_name = name,
                         .msg_namelen = name ? 128 : 0,
                         .msg_iov = v,
                         .msg_iovlen = 1,
                         .msg_control = ancillary,
                         .msg_controllen = ancillary_size};
    return m;
}

static void datagrams(void)
{
    int pair[2], one = 1;
    struct mmsghdr *many = at(4);
    struct iovec *v = at(5);

    CALL("socketpair", socketpair(AF_UNIX, SOCK_DGRAM, 0, at(0)));
    close(ints(0)[0]);
    close(ints(0)[1]);
    CALL("socketpair fails", socketpair(AF_UNIX, 77, 0, at(0)));
    socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
    setsockopt(pair[1], SOL_SOCKET, SO_PASSCRED, &one, sizeof(one));
    setsockopt(pair[1], SOL_SOCKET, SO_TIMESTAMP, &one, sizeof(one));
    send(pair[0], "a datagram", 10, 0);
    CALL("recvfrom peek", recvfrom(pair[1], at(0), 100, MSG_PEEK, at(1), length(2, 100)));
    CALL("recvfrom truncated", recvfrom(pair[1], at(0), 4, MSG_TRUNC, at(1), length(2, 3)));
    CALL("recvfrom would block", recvfrom(pair[1], at(0), 4, MSG_DONTWAIT, at(1), length(2, 100)));
    send(pair[0], "a datagram", 10, 0);
    TRY("recvfrom beyond the edge", r = recvfrom(pair[1], edge(4), 10, 0, NULL, NULL));
    send(pair[0], "a datagram", 10, 0);
    TRY("recvmsg with credentials",
        r = recvmsg(pair[1], message(7, at(1), at(0), 100, at(2), 200), 0));
    send(pair[0], "a datagram", 10, 0);
    TRY("recvmsg truncated", r = recvmsg(pair[1], message(7, at(1), at(0), 3, at(2), 20), 0));
    TRY("recvmsg would block",
        r = recvmsg(pair[1], message(7, at(1), at(0), 3, at(2), 20), MSG_DONTWAIT));
    TRY(
        "sendmmsg", for (int i = 0; i < 3; i++) {
            v[i] = (struct iovec){text(i), 10u + (unsigned)i};
            many[i] =
                (struct mmsghdr){.msg_hdr = {.msg_iov = &v[i], .msg_iovlen = 1}, .msg_len = 99};
        } r = sendmmsg(pair[0], many, 3, 0));
    TRY(
        "recvmmsg short", for (int i = 0; i < 4; i++) {
            v[i] = (struct iovec){text(i), 12};
            many[i] = (struct mmsghdr){.msg_hdr = {.msg_iov = &v[i],
                                                   .msg_iovlen = 1,
                                                   .msg_control = text(6) + 200 * i,
                                                   .msg_controllen = 150},
                                       .msg_len = 99};
        } r = recvmmsg(pair[1], many, 4, MSG_DONTWAIT, NULL));
    send(pair[0], "a datagram", 10, 0);
    TRY(
        "recvmmsg with a time-out",
        for (int i = 0; i < 2; i++) {
            v[i] = (struct iovec){text(i), 12};
            many[i] = (struct mmsghdr){.msg_hdr = {.msg_iov = &v[i], .msg_iovlen = 1}};
        } * (struct timespec *)at(7) = (struct timespec){0, 1000};
        r = recvmmsg(pair[1], many, 1, 0, at(7)));
    TRY("recvmmsg would block", v[0] = (struct iovec){text(0), 12};
        many[0] = (struct mmsghdr){.msg_hdr = {.msg_iov = v, .msg_iovlen = 1}};
        r = recvmmsg(pair[1], many, 1, MSG_DONTWAIT, NULL));
    TRY("sendmmsg fails", v[0] = (struct iovec){text(0), 12};
        many[0] = (struct mmsghdr){.msg_hdr = {.msg_iov = v, .msg_iovlen = 1}};
        r = sendmmsg(-1, many, 1, 0));
    close(pair[0]);
    close(pair[1]);
}

static void passed(int kind)
{
    int pair[2], fds[2] = {0, 1};
    struct msghdr *m;
    struct cmsghdr *c;

    socketpair(AF_UNIX, kind, 0, pair);
    for (size_t room = CMSG_LEN(sizeof(fds)); room >= CMSG_LEN(sizeof(int)) - 4; room -= 4) {
        begin("sendmsg of descriptors");
        m = message(7, NULL, at(0), 5, at(1), CMSG_SPACE(sizeof(fds)));
        c = CMSG_FIRSTHDR(m);
        *c = (struct cmsghdr){CMSG_LEN(sizeof(fds)), SOL_SOCKET, SCM_RIGHTS};
        memcpy(CMSG_DATA(c), fds, sizeof(fds));
        end(sendmsg(pair[0], m, 0));
        begin("recvmsg of descriptors");
        m = message(7, NULL, at(0), 50, at(1), room);
        end(recvmsg(pair[1], m, MSG_CMSG_CLOEXEC));
        c = CMSG_FIRSTHDR(m);
        for (size_t i = 0; c && i < (c->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++)
            close(((int *)CMSG_DATA(c))[i]);
    }
    close(pair[0]);
    close(pair[1]);
}

static void streams(void)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    socklen_t size = sizeof(here);
    int listener = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0), got;
    int local = socket(AF_UNIX, SOCK_STREAM, 0), other = socket(AF_UNIX, SOCK_STREAM, 0);
    int udp = socket(AF_INET, SOCK_DGRAM, 0);

    bind(listener, (struct sockaddr *)&here, sizeof(here));
    listen(listener, 5);
    getsockname(listener, (struct sockaddr *)&here, &size);
    CALL("accept would block",
         (fcntl(listener, F_SETFL, O_NONBLOCK), accept(listener, at(0), length(1, 100))));
    connect(client, (struct sockaddr *)&here, sizeof(here));
    TRY("accept", r = got = accept(listener, at(0), length(1, 100)));
    TRY("getsockname", r = getsockname(got, at(0), length(1, 100)));
    TRY("getsockname short", r = getsockname(got, at(0), length(1, 5)));
    TRY("getpeername", r = getpeername(got, at(0), length(1, 100)));
    TRY("getpeername fails", r = getpeername(listener, at(0), length(1, 100)));
    options(local, got);
    send(client, "hello, world", 12, 0);
    TRY("recv", r = recv(got, at(0), 5, 0));
    TRY("recvfrom", r = recvfrom(got, at(0), 100, 0, at(1), length(2, 100)));
    TRY("recv would block", r = recv(got, at(0), 5, MSG_DONTWAIT));
    close(client);
    TRY("recv of the end", r = recv(got, at(0), 5, 0));
    close(got);
    client = socket(AF_INET, SOCK_STREAM, 0);
    connect(client, (struct sockaddr *)&here, sizeof(here));
    TRY("accept4", r = got = accept4(listener, at(0), length(1, 3), SOCK_CLOEXEC));
    close(got);
    close(client);
    close(listener);
    snprintf(name.sun_path + 1, 60, "vestige-kernel-%d", getpid());
    bind(local, (struct sockaddr *)&name, sizeof(name));
    listen(local, 4);
    connect(other, (struct sockaddr *)&name, sizeof(name));
    TRY("accept of a local socket", r = got = accept(local, at(0), length(1, 100)));
    TRY("getpeername of a local socket", r = getpeername(other, at(0), length(1, 300)));
    TRY("getsockopt of a peer", r = getsockopt(got, SOL_SOCKET, SO_PEERCRED, at(0), length(1, 12)));
    close(got);
    close(other);
    close(local);
    here.sin_port = 0;
    bind(udp, (struct sockaddr *)&here, sizeof(here));
    getsockname(udp, (struct sockaddr *)&here, &size);
    sendto(udp, "to myself", 9, 0, (struct sockaddr *)&here, sizeof(here));
    TRY("recvmsg with an address", r = recvmsg(udp, message(7, at(1), at(0), 100, NULL, 0), 0));
    sendto(udp, "to myself", 9, 0, (struct sockaddr *)&here, sizeof(here));
    TRY("recvfrom with an address", r = recvfrom(udp, at(0), 100, 0, at(1), length(2, 100)));
    close(udp);
}

static void interfaces(void)
{
    static const int names[] = {SIOCGIFFLAGS,   SIOCGIFADDR,   SIOCGIFNETMASK, SIOCGIFBRDADDR,
                                SIOCGIFDSTADDR, SIOCGIFMTU,    SIOCGIFHWADDR,  SIOCGIFINDEX,
                                SIOCGIFMETRIC,  SIOCGIFTXQLEN, SIOCGIFMAP,     SIOCGIFMEM};
    struct ifreq *request = at(0);
    struct ifconf *list = at(0);
    int fd = socket(AF_INET, SOCK_DGRAM, 0), none;

    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        TRY("SIOCGIF*", strcpy(request->ifr_name, "lo"); r = ioctl(fd, names[i], request));
        TRY("SIOCGIF* fails", strcpy(request->ifr_name, "none0"); r = ioctl(fd, names[i], request));
    }
    TRY("SIOCGIFNAME", request->ifr_ifindex = 1; r = ioctl(fd, SIOCGIFNAME, request));
    TRY("SIOCGIFCONF", list->ifc_len = 1000; list->ifc_buf = at(1);
        r = ioctl(fd, SIOCGIFCONF, list));
    TRY("SIOCGIFCONF short", list->ifc_len = 10; list->ifc_buf = at(1);
        r = ioctl(fd, SIOCGIFCONF, list));
    TRY("SIOCGIFCONF size", list->ifc_len = 0; list->ifc_buf = NULL;
        r = ioctl(fd, SIOCGIFCONF, list));
    TRY("SIOCGARP", memset(at(0), 0, 68); ((struct sockaddr *)at(0))->sa_family = AF_INET;
        r = ioctl(fd, SIOCGARP, at(0)));
    TRY("SIOCETHTOOL", strcpy(request->ifr_name, "lo"); request->ifr_data = at(1);
        ints(1)[0] = 3 /* GDRVINFO */; r = ioctl(fd, 0x8946, request));
    close(fd);
    fd = socket(AF_NETLINK, SOCK_RAW, 0);
    TRY("getsockname of netlink", r = getsockname(fd, at(0), length(1, 100)));
    TRY("netlink send", memset(at(0), 0, 32); ints(0)[0] = 20; ints(0)[1] = 18 | 0x3010000;
        r = send(fd, at(0), 20, 0));
    TRY("netlink recvmsg", r = recvmsg(fd, message(7, at(1), at(0), 3000, at(2), 100), 0));
    close(fd);
    none = -1;
    TRY("ioctl fails", r = ioctl(none, SIOCGIFCONF, list));
}

#endif
