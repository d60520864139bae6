"""The kinds of message between the grader and a student process, and what their parts are.

Every part is a packed value (`wire.pack`) unless it says raw. The grader asks, the student
process answers; while a call runs, the answer may ask the grader to run one of its functions.
"""

from __future__ import annotations

# From the student process, once: nothing, or what of the sandbox could not be set up (a list).
READY = 1
NOT_CONFINED = 2

# From the grader.
RUN_CELL = 10  # source (str), its number (int)
MODEL = 11  # number (int), raw bytes of an MjModel
CALL = 12  # function (str), deep watch (bool), then each call: a tuple of packed arguments
VALUE = 13  # name (str)
METHOD = 14  # number of the instance (int), name (str), deep watch (bool), packed arguments
ATTRIBUTE = 15  # number of the instance (int), name (str)
BIND = 16  # {name: callback number}, answered by nothing
UNBIND = 17  # no parts, answered by nothing
RETURNED = 18  # value, error or None, {argument: raw bytes of MjData} after a callback

# From the student process.
CELL_RAN = 30  # list of outputs
OUTCOME = (
    31  # (error or None, aliases, routines, seconds, blinded), value, what each argument became
)
CALL_BACK = 32  # number (int), packed arguments, packed keyword arguments
