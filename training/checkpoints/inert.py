"""Reading a pickle without running anything in it: what it would import or call becomes an inert stand-in.

Source: the opcodes as Python's ``pickletools`` documents them. Only those of protocols 2 to 5 that a saved
VecNormalize consists of are known here.
"""

import pickletools
from collections.abc import Callable
from typing import Any

MAX_OPCODES = 1_000_000  # a VecNormalize of 4 cars has 600, one of 10,000 cars 60,000


class StandIn:
    """What a pickle would import, or an object that it would make by calling that.

    Attributes:
        name: What would be imported, with its module.
        arguments: What it would be called with, usually a tuple; None if it is only imported.
        state: What the object would then be filled with; None if nothing.
    """

    __slots__ = ("arguments", "name", "state")

    def __init__(self, name: str, arguments: Any = None) -> None:
        self.name = name
        self.arguments = arguments
        self.state: Any = None


class _Stack:
    """The stack and the memo of a pickle that is being read."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self._marks: list[int] = []
        self._memo: dict[int, Any] = {}

    def do(self, opcode: str, argument: Any) -> None:
        """Carry out an opcode."""
        if opcode in _ARGUMENTS:
            self.items.append(argument)
        elif opcode in _FRESH:
            self.items.append(_FRESH[opcode]())
        elif opcode in _ACTIONS:
            _ACTIONS[opcode](self, argument)
        elif opcode not in ("PROTO", "FRAME"):
            raise ValueError(f"it has the opcode {opcode}, which no statistics have")

    def mark(self, argument: None) -> None:
        self._marks.append(len(self.items))

    def memoize(self, argument: int | None) -> None:
        self._memo[len(self._memo) if argument is None else argument] = self.items[-1]

    def recall(self, argument: int) -> None:
        if argument not in self._memo:
            raise ValueError("it recalls what it has not made")
        self.items.append(self._memo[argument])

    def pop_to_mark(self) -> list[Any]:
        begin = self._marks.pop()
        items = self.items[begin:]
        del self.items[begin:]
        return items

    def pop(self, count: int) -> list[Any]:
        if len(self.items) < count:
            raise ValueError("it takes more from its stack than is there")
        items = self.items[-count:]
        del self.items[-count:]
        return items

    def tuple_of(self, count: int) -> None:
        self.items.append(tuple(self.pop(count)))

    def tuple_to_mark(self, argument: None) -> None:
        self.items.append(tuple(self.pop_to_mark()))

    def extend(self, values: list[Any]) -> None:
        if isinstance(self.items[-1], list):
            self.items[-1].extend(values)

    def set_items(self, values: list[Any]) -> None:
        # Text alone: the hash of a forged key could take forever, and attributes are what is looked for.
        if isinstance(self.items[-1], dict):
            self.items[-1].update(
                {key: value for key, value in zip(values[::2], values[1::2], strict=True) if isinstance(key, str)}
            )

    def global_of(self, module: Any, name: Any) -> None:
        if not (isinstance(module, str) and isinstance(name, str)):
            raise ValueError("it imports what has no name")
        self.items.append(StandIn(f"{module}.{name}"))

    def call(self, count: int) -> None:
        called, *arguments = self.pop(count)
        if not isinstance(called, StandIn) or called.arguments is not None:
            raise ValueError("it calls what it has not imported")
        self.items.append(StandIn(called.name, arguments[0]))

    def build(self, argument: None) -> None:
        made, state = self.pop(2)
        if not isinstance(made, StandIn) or made.arguments is None:
            raise ValueError("it fills what it has not made")
        made.state = state
        self.items.append(made)


# Opcodes that push what is written beside them.
_ARGUMENTS = {
    *("BININT", "BININT1", "BININT2", "LONG1", "LONG4", "BINFLOAT", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"),
    *("BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8"),
}
# Opcodes that push something of their own; a set is a list here, as its members need no hash then.
_FRESH: dict[str, Callable[[], Any]] = {
    "NONE": lambda: None,
    "NEWTRUE": lambda: True,
    "NEWFALSE": lambda: False,
    "EMPTY_TUPLE": tuple,
    "EMPTY_LIST": list,
    "EMPTY_SET": list,
    "EMPTY_DICT": dict,
}
_ACTIONS: dict[str, Callable[[_Stack, Any], None]] = {
    "MARK": _Stack.mark,
    **dict.fromkeys(("MEMOIZE", "BINPUT", "LONG_BINPUT"), _Stack.memoize),
    **dict.fromkeys(("BINGET", "LONG_BINGET"), _Stack.recall),
    "TUPLE": _Stack.tuple_to_mark,
    "FROZENSET": _Stack.tuple_to_mark,
    "TUPLE1": lambda stack, _: stack.tuple_of(1),
    "TUPLE2": lambda stack, _: stack.tuple_of(2),
    "TUPLE3": lambda stack, _: stack.tuple_of(3),
    "APPEND": lambda stack, _: stack.extend(stack.pop(1)),
    **dict.fromkeys(("APPENDS", "ADDITEMS"), lambda stack, _: stack.extend(stack.pop_to_mark())),
    "SETITEM": lambda stack, _: stack.set_items(stack.pop(2)),
    "SETITEMS": lambda stack, _: stack.set_items(stack.pop_to_mark()),
    "GLOBAL": lambda stack, names: stack.global_of(*names.split(" ", 1)),
    "STACK_GLOBAL": lambda stack, _: stack.global_of(*stack.pop(2)),
    **dict.fromkeys(("REDUCE", "NEWOBJ"), lambda stack, _: stack.call(2)),
    "NEWOBJ_EX": lambda stack, _: stack.call(3),
    "BUILD": _Stack.build,
}


def read_inert(content: bytes) -> Any:
    """Return what a pickle holds, with stand-ins for all objects.

    Dictionaries keep the entries whose key is text; a set is a list.

    Raises:
        ValueError, TypeError, LookupError: It is damaged, too long, or holds opcodes that no statistics have.
    """
    stack = _Stack()
    for count, (opcode, argument, _) in enumerate(pickletools.genops(content)):
        if opcode.name == "STOP":
            (result,) = stack.items
            return result
        if count >= MAX_OPCODES:
            raise ValueError(f"it has more than {MAX_OPCODES:,} opcodes")
        stack.do(opcode.name, argument)
    raise ValueError("it has no end")
