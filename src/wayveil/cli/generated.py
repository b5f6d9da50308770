"""Commands whose options are the declared parameters of methods, steps, attacks and workloads.

They are built when they are asked for: ``wayveil --help`` does not import the packages behind them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

__all__ = ["command_of", "group_of", "lazy", "with_options"]


def lazy(build: Callable[[str | None], Any]) -> type[TyperCommand]:
    """Return a command class that becomes the command that `build` returns when it is called.

    `build` is told the first word after the command: of a group, no more than the command of this name has to be built.
    """

    class Lazy(TyperCommand):
        def make_context(self, info_name: Any, args: Any, parent: Any = None, **extra: Any) -> Any:
            return build(args[0] if args else None).make_context(info_name, args, parent, **extra)

    return Lazy


def command_of(function: Callable[..., None], help: str) -> Any:
    """Return one command."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(help=help)(function)
    return typer.main.get_command(app)


def group_of(commands: Iterable[tuple[str, str, Callable[..., None]]], help: str) -> Any:
    """Return a group of commands, each given as (name, help, function)."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None, help=help)
    app.callback()(_nothing)  # a group of one command stays a group
    for name, text, function in commands:
        app.command(name.replace("_", "-"), help=text)(function)
        if "_" in name:  # as it is called in recipes and in Python
            app.command(name, help=text, hidden=True)(function)
    return typer.main.get_command(app)


def with_options(function: Callable[..., None], parameters: Iterable[Any]) -> Callable[..., None]:
    """Return `function` with one option more per declared parameter.

    What was typed for them reaches `function` as the mapping `typed`, without the options that were not given.
    """
    options = [_option(parameter) for parameter in parameters]
    own = [
        p.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for p in inspect.signature(function, eval_str=True).parameters.values()
        if p.name != "typed"
    ]
    needed = [p for p in own if p.default is inspect.Parameter.empty]
    optional = [p for p in own if p.default is not inspect.Parameter.empty]

    def command(**given: Any) -> None:
        typed = {p.name: given.pop(p.name) for p in options}
        function(**given, typed={name: text for name, text in typed.items() if text})

    command.__signature__ = inspect.Signature([*needed, *options, *optional])  # type: ignore[attr-defined]
    command.__annotations__ = {}
    return command


def _option(parameter: Any) -> inspect.Parameter:
    many = parameter.kind in ("sensitive", "groups")
    default = "" if parameter.required or many else f"; default {parameter.default}"
    info = typer.Option(
        f"--{parameter.name.replace('_', '-')}",
        help=f"{parameter.help} [{parameter.range}{default}]",
        metavar=f"{'NAME' if parameter.kind == 'groups' else 'ATTRIBUTE'}=VALUE,..."
        if many
        else parameter.name.upper(),
    )
    kind: Any = list[str] if many else str
    return inspect.Parameter(
        parameter.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if parameter.required else None,
        annotation=Annotated[kind if parameter.required else kind | None, info],
    )


def _nothing() -> None:
    """The callback of a group that has no options of its own."""
