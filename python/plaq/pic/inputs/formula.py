"""Formulas in an input: ``1 + 0.01*cos(2*pi*x/L)``, compiled to a program on a stack and evaluated on numpy arrays.

Python's own parser is not used: its errors name neither what is missing nor where, and it recurses in C.

Grammar, from the loosest to the tightest:

    either      = both { "or" both }
    both        = comparison { "and" comparison }
    comparison  = sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum ]
    sum         = product { ("+" | "-") product }
    product     = signed { ("*" | "/") signed }
    signed      = { "+" | "-" } power
    power       = atom [ ("^" | "**") signed ]
    atom        = number | name | name "(" either { "," either } ")" | "(" either ")"

A comparison is 1 where it holds and 0 elsewhere, so that ``2*(x > 3)`` is a step; ``and`` and ``or`` are 1 or 0 too,
and take numbers other than 0 as true. ``-x^2`` is -(x²), ``2^3^2`` is 2⁹.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from plaq.errors import InputError
from plaq.inputs.schema import nearest, one_line
from plaq.pic.inputs.functions import CONSTANTS, FUNCTIONS, OPERATORS, Function
from plaq.streams import printable

Table = tuple[tuple[float, float], ...]
LONGEST = 2000  # characters
SHOWN = 120  # characters on each side of a mistake
DEEPEST = 40  # nested parts

TOKEN = re.compile(r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z_]\w*)|"
                   r"(?P<sign>\*\*|<=|>=|==|!=|[-+*/^()<>,]))", re.ASCII)
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
LEVELS = (("or",), ("and",), COMPARISONS, ("+", "-"), ("*", "/"))  # binary operators, from the loosest to the tightest


class Mistake(ValueError):
    """Error of a formula, and its character, counted from 0."""

    def __init__(self, message: str, at: int):
        super().__init__(message)
        self.at = at


class Step(NamedTuple):
    """Step of a program on a stack.

    Pushes a ``number`` or the variable ``symbol``, or replaces the last ``takes`` values by the function or operator
    ``symbol`` of them, or the last one by its value in a ``table`` (xs, ys).
    """

    symbol: str
    takes: int = 0
    number: float | None = None
    table: tuple[list[float], list[float]] | None = None


@dataclass(frozen=True)
class Formula:
    """A formula ``text`` as a program on a stack; ``uses`` are the variables that occur."""

    text: str
    program: tuple[Step, ...]
    uses: frozenset[str]

    @classmethod
    def read(cls, text: str | float, variables: Iterable[str] = ("x", "y", "z", "t"),
             constants: Mapping[str, float | Table] | None = None) -> Formula:
        """Compile a text or a number; ``constants`` are numbers, and tables of points (x, y).

        InputError points at the character of a mistake."""
        if not isinstance(text, str):
            return cls(repr(float(text)), (Step("", number=float(text)),), frozenset())
        known = frozenset(variables)
        try:
            program = _Compiler(text, known, ChainMap(constants or {}, CONSTANTS)).program()
        except Mistake as mistake:
            before, after = text[max(0, mistake.at - SHOWN):mistake.at], text[mistake.at:mistake.at + SHOWN]
            before = "…" * (mistake.at > SHOWN) + printable(before)
            after = printable(after) + "…" * (len(text) > mistake.at + SHOWN)
            raise InputError(f"{before}▸{after}: {mistake} at character "
                             f"{mistake.at + 1}") from None
        return cls(text, tuple(program),
                   frozenset(step.symbol for step in program if not step.takes and step.number is None))

    def __call__(self, **variables: Any) -> np.ndarray:
        """Return the values on numbers or arrays, which are broadcast together; nan or inf where the formula is."""
        stack: list[Any] = []
        with np.errstate(all="ignore"):
            for symbol, takes, number, table in self.program:
                operands = stack[len(stack) - takes:]
                del stack[len(stack) - takes:]
                stack.append(np.interp(operands[0], *table) if table else _apply(symbol, operands) if takes else
                             np.asarray(variables[symbol], float) if number is None else np.float64(number))
        return np.broadcast_to(stack[0],
                               np.broadcast_shapes(*(np.shape(v) for v in variables.values()))).astype(float)

    def finite(self, **variables: Any) -> np.ndarray:
        """Return the values. InputError names a place where one is not finite."""
        return self.bounded(np.finfo(float).max, **variables)

    def bounded(self, largest: float, **variables: Any) -> np.ndarray:
        """Return the values. InputError names a place where one is not finite, or its amount above ``largest``."""
        value = self(**variables)
        good = np.abs(value) <= largest
        if good.all():
            return value
        at = np.unravel_index(np.argmin(good), value.shape)
        place = ", ".join(f"{name} = {float(np.broadcast_to(v, value.shape)[at]):.6g}"
                          for name, v in variables.items())
        more = f", more than {largest:.3g}" if np.isfinite(value[at]) else ""
        raise InputError(f"{printable(self.text)} is {value[at]}{more} at {place}")


def _apply(symbol: str, values: list[Any]) -> Any:
    if symbol not in OPERATORS:
        return FUNCTIONS[symbol].call(*values)
    return np.negative(values[0]) if len(values) == 1 else 1.0 * OPERATORS[symbol](*values)


class _Compiler:
    """Compiler of one text by recursive descent: each method appends the steps of its part to the program."""

    def __init__(self, text: str, variables: frozenset[str], constants: Mapping[str, float | Table]):
        self.text, self.variables, self.constants = text, variables, constants
        if len(text) > LONGEST:
            raise Mistake(f"a formula of more than {LONGEST} characters", LONGEST)
        self.tokens = list(self._tokens())
        self.next, self.depth = 0, 0
        self.steps: list[Step] = []

    def _tokens(self):
        at = 0
        while at < len(self.text.rstrip()):
            match = TOKEN.match(self.text, at)
            if not match:
                at += len(self.text[at:]) - len(self.text[at:].lstrip())
                raise Mistake(f"{self.text[at]!r} is not part of any formula", at)
            yield match.lastgroup, match[match.lastgroup], match.start(match.lastgroup)
            at = match.end()
        yield "end", "the end", len(self.text)

    @property
    def kind(self) -> str:
        return self.tokens[self.next][0]

    @property
    def token(self) -> str:
        return self.tokens[self.next][1]

    @property
    def at(self) -> int:
        return self.tokens[self.next][2]

    def accept(self, *symbols: str) -> str | None:
        """Return the token and move to the next, if it is one of these."""
        if self.kind in ("sign", "name") and self.token in symbols:
            self.next += 1
            return self.tokens[self.next - 1][1]
        return None

    def demand(self, symbol: str, opened: int) -> None:
        if not self.accept(symbol):
            raise Mistake(f"{symbol} is missing for the ( at character {opened + 1}, before {self.token}", self.at)

    def program(self) -> list[Step]:
        self.expression()
        if self.kind != "end":
            raise Mistake(f"{self.token} is left over after the formula", self.at)
        return self.steps

    def nested(self, read: Callable[[], None]) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise Mistake(f"more than {DEEPEST} nested parts", self.at)
        read()
        self.depth -= 1

    def expression(self, level: int = 0) -> None:
        """Compile operands of the operators of a level, joined from the left."""
        if level == len(LEVELS):
            return self.signed()
        self.expression(level + 1)
        while symbol := self.accept(*LEVELS[level]):
            self.expression(level + 1)
            self.steps.append(Step(symbol, 2))
            if LEVELS[level] is COMPARISONS and self.kind == "sign" and self.token in COMPARISONS:
                raise Mistake("two comparisons in a row: join them by and", self.at)

    def signed(self) -> None:
        minus = False
        while sign := self.accept("+", "-"):
            minus ^= sign == "-"
        self.power()
        if minus:
            self.steps.append(Step("-", 1))

    def power(self) -> None:
        self.atom()
        if self.accept("^", "**"):
            self.nested(self.signed)
            self.steps.append(Step("^", 2))

    def atom(self) -> None:
        kind, token, at = self.tokens[self.next]
        if kind == "number":
            self.next += 1
            if not np.isfinite(float(token)):
                raise Mistake(f"{token} is too large", at)
            self.steps.append(Step("", number=float(token)))
        elif kind == "name" and token not in ("and", "or"):
            self.next += 1
            self._call(token, at) if self.accept("(") else self._name(token, at)
        elif self.accept("("):
            self.nested(self.expression)
            self.demand(")", at)
        else:
            raise Mistake(f"a number, a name or ( is missing before {token}", at)

    def _name(self, name: str, at: int) -> None:
        if name in self.variables:
            self.steps.append(Step(name))
        elif isinstance(self.constants.get(name), tuple):
            raise Mistake(f"{name} is a table: it needs ( and its argument", at)
        elif name in self.constants:
            self.steps.append(Step(name, number=float(self.constants[name])))
        elif name in FUNCTIONS:
            raise Mistake(f"{name} is a function: it needs ( and its arguments", at)
        else:
            known = [*sorted(self.variables), *self.constants]
            raise Mistake(f"unknown name {one_line(name)}{nearest(name, known)}", at)

    def _call(self, name: str, at: int) -> None:
        table = self.constants.get(name)
        function = Function(np.interp, 1, 1, "") if isinstance(table, tuple) else FUNCTIONS.get(name)
        if function is None:
            raise Mistake(f"unknown function {one_line(name)}{nearest(name, FUNCTIONS)}", at)
        opened = self.tokens[self.next - 1][2]
        self.nested(self.expression)
        arguments = 1
        while self.accept(","):
            self.nested(self.expression)
            arguments += 1
        self.demand(")", opened)
        if not function.fewest <= arguments <= function.most:
            wanted = (str(function.fewest) if function.fewest == function.most
                      else f"{function.fewest} to {function.most}")
            raise Mistake(f"{name} takes {wanted} arguments, not {arguments}", at)
        xs, ys = zip(*table) if isinstance(table, tuple) else ((), ())
        self.steps.append(Step(name, arguments, table=(list(xs), list(ys)) if xs else None))
