# SPDX-License-Identifier: MIT
"""Recorded runs of multithreaded programs, in Python.

    import vestige
    with vestige.open("run.vest") as run:
        for batch in run:
            loads = batch.events[batch.events["kind"] == vestige.KINDS["load"]]

Batches are numpy structured arrays over the memory that the library decoded them to. Functions that
read a whole run (measure, encode, prove, instructions) open it for themselves, so they leave an
iteration where it is. Long calls let other threads run; an object that one thread is in raises
RuntimeError for others. What is wrong with a file raises vestige.Error, with the place.
"""

from ._vestige import (
    BR_CALL,
    BR_COND,
    BR_INDIRECT,
    BR_RETURN,
    BR_TAKEN,
    EVENT,
    INSTRUCTION,
    KINDS,
    MEM_ATOMIC,
    MEM_REPEAT,
    REPORTS_ADDRESSES,
    REPORTS_FLOW,
    REPORTS_VALUES,
    STEP,
    Batch,
    Error,
    Instructions,
    Playback,
    Run,
    __version__,
    cost,
    decode,
    open,
    replay,
    techniques,
)

__all__ = [
    "BR_CALL",
    "BR_COND",
    "BR_INDIRECT",
    "BR_RETURN",
    "BR_TAKEN",
    "EVENT",
    "INSTRUCTION",
    "KINDS",
    "MEM_ATOMIC",
    "MEM_REPEAT",
    "REPORTS_ADDRESSES",
    "REPORTS_FLOW",
    "REPORTS_VALUES",
    "STEP",
    "Batch",
    "Error",
    "Instructions",
    "Playback",
    "Run",
    "cost",
    "decode",
    "open",
    "replay",
    "techniques",
]
