#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""usage: hold.py COMMAND...

Between gdb and the server COMMAND, as gdb's pipe: passes on what either says. The first packet of each kind that
makes the program run on (vCont;c and bc) it holds back: it interrupts gdb, whose process GDB_PID names, and
passes packet and interrupt on in one piece. However fast the server is, the interrupt is there when it first looks."""
import os
import signal
import subprocess
import sys
import threading

RUNNING = (b"$vCont;c", b"$bc#")
INTERRUPT = b"\x03"


def copy(source, target):
    while piece := os.read(source, 65536):
        os.write(target, piece)


def main():
    server = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    answers = threading.Thread(target=copy, args=(server.stdout.fileno(), 1))
    answers.start()
    to_server = server.stdin.fileno()
    waiting = set(RUNNING)
    held = b""
    while piece := os.read(0, 65536):
        held += piece
        kind = next((kind for kind in waiting if kind in held), None)
        if kind:
            os.kill(int(os.environ["GDB_PID"]), signal.SIGINT)
            while INTERRUPT not in held and (piece := os.read(0, 65536)):
                held += piece
            waiting.remove(kind)
        os.write(to_server, held)
        held = b""
    server.stdin.close()
    answers.join()
    return server.wait()


sys.exit(main())
