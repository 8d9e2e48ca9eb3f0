"""Shared parts of the command line: groups of commands, numbers in options, errors of usage."""

from __future__ import annotations

import sys
from typing import Any

import typer
import typer.core

from plaq.errors import InputError, Interrupted
from plaq.inputs.kinds import cpu_list


class _PlainFlags:
    """Help without a type after options that take no value."""

    def get_params(self, ctx: Any) -> list[Any]:
        parameters = super().get_params(ctx)
        for param in parameters:
            if getattr(param, "is_flag", False):
                param.metavar = ""
        return parameters


class Command(_PlainFlags, typer.core.TyperCommand):
    """One command. An interrupted run ends it with the exit code of the interruption."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except Interrupted as stopped:  # Typer would treat that of SIGINT as its own
            from plaq.comm import end_together

            end_together()
            sys.exit(stopped.ended)


class Group(_PlainFlags, typer.core.TyperGroup):
    """A command of commands."""


class App(typer.Typer):
    """A group of commands; without one of them it prints its help."""

    def __init__(self, add_completion: bool = False, **options: Any):
        super().__init__(cls=Group, no_args_is_help=True, add_completion=add_completion,
                         pretty_exceptions_enable=False, rich_markup_mode="rich", **options)

    def command(self, *names: Any, **options: Any) -> Any:
        return super().command(*names, cls=Command, **options)


def whole(most: int) -> dict[str, Any]:
    """Return arguments of an option or argument for a number from 1 to ``most``."""

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = 0
        if not 1 <= value <= most:
            raise typer.BadParameter(f"{text[:40]!r} is not an integer from 1 to {most}")
        return value

    return {"parser": read, "metavar": "N"}


def rank_list(text: str, option: str) -> list[int]:
    """Return [0, 5, 6, 7, 8] for "0,5-8"; InputError for anything else."""
    try:
        return cpu_list(text)
    except ValueError:
        raise InputError(f"{option} {text[:40]}: should be different ranks such as 0,5-8") from None


def run_command(app: App) -> int:
    """Carry out the command of sys.argv and return the exit code; InputError for an unknown one."""
    try:
        return app(standalone_mode=False) or 0
    except typer.BadParameter.__base__ as wrong:  # UsageError of the click that Typer uses
        if type(wrong).__name__ == "NoArgsIsHelpError":  # the help is its message, unless it is printed already
            print(wrong.message, end="")
            return wrong.exit_code
        at = wrong.ctx.command_path if wrong.ctx else "plaq"
        raise InputError(f"{wrong.format_message().rstrip('.')}; see {at} --help") from None
