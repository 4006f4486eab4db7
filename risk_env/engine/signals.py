"""Threads that share a kernel's work, and hear of one another without sleeping.

A thread that sleeps takes tens of microseconds to wake, as long as half a step of a thousand games takes. So a batch's
helpers (`crew`) stay awake for a while after a step, inside the kernel, and hear of the next one by a word of memory.
Work has two stages. In the first an element may be refused; the second begins when all are done and none was.

`signals` int64 (threads, 8) has a row for each thread, a cache line: its state, whether it was asleep when it was
called, and the next element of its part in either stage. The last row is the caller's, and says of the first stage how
many elements are done and whether one was refused. `bounds` int64 (threads + 1,) are the parts.

Who is done with his own part takes on with the others', so nobody waits for one who is slow to come.
"""

import platform

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from risk_env.compiler import entry_point, inlined

STATE, SLEPT, DONE, REFUSED, NEXT = range(5)  # of a row; NEXT of the first stage, and after it of the second
FIRST, SECOND = range(2)  # stages

ASLEEP = 0  # not in the kernel, or about to leave it
READY = 1  # awake for the next call, or soon
CALLED = 2
WORKING = 3
LEAVE = 4  # told to sleep

CLOSED = -(2**62)  # far below any number of elements done

ALONE = -1  # instead of a thread's number: there are no others

_PAUSE, _YIELD = ("llvm.x86.sse2.pause", ()), ("llvm.aarch64.hint", (1,))  # and the number of the hint
_RESTS: dict[str, tuple[str, tuple[int, ...]]] = {"x86_64": _PAUSE, "amd64": _PAUSE, "aarch64": _YIELD, "arm64": _YIELD}
_REST = _RESTS.get(platform.machine().lower())  # the processor's word for a loop that only waits
_INT64 = ir.IntType(64)


@entry_point
def call_all(signals, bounds):
    """Call every helper to work on the parts; whether any slept, which has to be sent into the kernel to hear it."""
    threads = len(signals)
    for thread in range(threads):
        signals[thread, NEXT + FIRST] = bounds[thread]
        signals[thread, NEXT + SECOND] = bounds[thread]
    signals[threads - 1, DONE] = 0
    signals[threads - 1, REFUSED] = 0
    slept = False
    for helper in range(threads - 1):
        signals[helper, SLEPT] = exchange(signals, helper, STATE, CALLED) == ASLEEP
        slept |= signals[helper, SLEPT] != 0
    return slept


@entry_point
def wait_for_all(signals, patience):
    """When all of the work is taken: wait until nobody is at it any more, or for so many looks; whether nobody is.

    Helpers that have not come yet are called no longer.
    """
    for helper in range(len(signals) - 1):
        if not replace(signals, helper, STATE, CALLED, READY):
            while look(signals, helper, STATE) == WORKING:
                if patience == 0:
                    return False
                patience -= 1
                rest()
    return True


@entry_point
def send_away(signals, helper):
    """Tell a helper that is not at work to sleep."""
    exchange(signals, helper, STATE, LEAVE)


@inlined
def is_called(signals, helper, patience):
    """A helper waits for a call: whether one comes within so many looks."""
    while True:
        for _ in range(patience):
            if look(signals, helper, STATE) != READY:
                break
            rest()
        if replace(signals, helper, STATE, CALLED, WORKING):
            return True
        if replace(signals, helper, STATE, READY, ASLEEP) or look(signals, helper, STATE) == LEAVE:
            return False


@inlined
def report(signals, helper):
    """A helper has found all of the work taken, and is done with its own."""
    exchange(signals, helper, STATE, READY)


@inlined
def take(signals, bounds, stage, thread, size):
    """The next so many elements of a stage: of the own part, else of another's; their bounds, equal if none is left."""
    threads = len(signals)
    for after in range(threads):
        part = (thread + after) % threads
        if look(signals, part, NEXT + stage) < bounds[part + 1]:
            first = increase(signals, part, NEXT + stage, size)
            if first < bounds[part + 1]:
                return first, min(first + size, bounds[part + 1])
    return bounds[0], bounds[0]


@inlined
def hand_in(signals, size, refused):
    """So many elements of the first stage are done; whether one of them was refused."""
    if refused:
        exchange(signals, len(signals) - 1, REFUSED, 1)
    increase(signals, len(signals) - 1, DONE, size)


@inlined
def comes_to_an_end(signals, size, patience):
    """Whether within so many looks all elements of the first stage are done, before the caller has closed it."""
    while True:
        done = look(signals, len(signals) - 1, DONE)
        if done == size:
            return True
        if done < 0 or patience == 0:
            return False
        patience -= 1
        rest()


@inlined
def close(signals, size):
    """The caller waits no longer for the first stage; whether it is done after all. If not, no helper goes on to the
    second."""
    return exchange(signals, len(signals) - 1, DONE, CLOSED) == size


@inlined
def is_refused(signals):
    """Whether an element of the first stage was refused; known when it is done."""
    return look(signals, len(signals) - 1, REFUSED) != 0


def _changing(operation):
    """An intrinsic (signals, row, column, value) that changes a number of `signals` at once; what that was before."""

    @intrinsic
    def change(_, signals, row, column, value):
        def code(context, builder, signature, arguments):
            place = _place(context, builder, signature, arguments)
            return builder.atomic_rmw(operation, place, arguments[3], "seq_cst")

        return types.int64(signals, types.int64, types.int64, types.int64), code

    return change


exchange = _changing("xchg")  # writes the value
increase = _changing("add")  # adds it


@intrinsic
def replace(_, signals, row, column, value, other):
    """Write `other` into `signals` where `value` stands; whether it stood there."""

    def code(context, builder, signature, arguments):
        place = _place(context, builder, signature, arguments)
        found = builder.cmpxchg(place, arguments[3], arguments[4], "seq_cst", "seq_cst")
        return builder.extract_value(found, 1)

    return types.boolean(signals, *[types.int64] * 4), code


@intrinsic
def look(_, signals, row, column):
    """A number of `signals` as it stands, and all that was written before it."""

    def code(context, builder, signature, arguments):
        return builder.load_atomic(_place(context, builder, signature, arguments), "acquire", 8)

    return types.int64(signals, types.int64, types.int64), code


@intrinsic
def rest(_):
    """Let what shares the processor go on for a moment."""

    def code(context, builder, signature, arguments):
        if _REST is not None:
            name, numbers = _REST
            kind = ir.FunctionType(ir.VoidType(), [ir.IntType(32)] * len(numbers))
            function = cgutils.get_or_insert_function(builder.module, kind, name)
            builder.call(function, [ir.IntType(32)(number) for number in numbers])
        return context.get_dummy_value()

    return types.void(), code


def _place(context, builder, signature, arguments):
    """Where a number of `signals` lies."""
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    row = builder.mul(builder.extract_value(array.strides, 0), arguments[1])
    data = builder.bitcast(array.data, ir.IntType(8).as_pointer())
    return builder.gep(builder.bitcast(builder.gep(data, [row]), _INT64.as_pointer()), [arguments[2]])
