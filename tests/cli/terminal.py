#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a command on a terminal of its own, and does what standard input says, line by line:

  expect REGEX   waits until it is among what came since the last expectation
  send TEXT      types it; escapes as in Python, \\x03 for Ctrl-C
  insist TEXT    types it every 0.2 s, until the command has ended
  hangup         closes the terminal

Prints all that came, when the command has ended, and ends as it did (128 + N after signal N), or with 99 if an
expectation did not come in a minute. Usage: terminal.py COLUMNS COMMAND...
"""
import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time

columns, command = int(sys.argv[1]), sys.argv[2:]
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    os.execvp(command[0], command)

seen, at = b"", 0


def listen(seconds):
    """Takes what comes. Returns whether there may be more."""
    global seen
    if not select.select([fd], [], [], seconds)[0]:
        return True
    try:
        more = os.read(fd, 65536)
    except OSError:
        more = b""
    seen += more
    return bool(more)


def type_in(text):
    os.write(fd, text.encode().decode("unicode_escape").encode("latin-1"))


def leave(status):
    sys.stdout.buffer.write(seen)
    sys.exit(status)


for line in sys.stdin:
    word, _, text = line.rstrip("\n").partition(" ")
    if word == "expect":
        limit = time.monotonic() + 60
        while not (match := re.search(text.encode(), seen[at:])):
            if not listen(0.2) or time.monotonic() > limit:
                sys.stderr.write("did not come: %s\n" % text)
                os.kill(pid, 9)
                leave(99)
        at += match.end()
    elif word == "send":
        type_in(text)
    elif word == "insist":
        for _ in range(300):
            type_in(text)
            end = time.monotonic() + 0.2
            while (left := end - time.monotonic()) > 0 and listen(left):
                pass
            if left > 0:
                break
    elif word == "hangup":
        os.close(fd)
        fd = -1

if fd >= 0:
    while listen(60):
        pass
_, status = os.waitpid(pid, 0)
leave(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
