"""Mistakes on the command line, told so that they can be corrected at once."""

from __future__ import annotations

import re
from typing import Any

from wayveil.errors import closest

__all__ = ["explain"]

_CHOSEN = {"publish": "method", "generate": "kind of data", "prepare": "step"}
_REWORDED = (  # what the libraries below say, and what a person can use
    (r"Value error, ", ""),
    (r"Input should be a valid integer.*", "must be an integer."),
    (r"Input should be greater than or equal to (\S+)$", r"must be \1 or more."),
    (r"Input should be ", "must be "),
    (r"('[^']*') is not one of (.*?)\.?$", r"must be one of \2; got \1."),
    (r"Got unexpected extra arguments?(?:\(s\))? \((.*)\)", r"There is no place for: \1."),
)


def explain(error: Any) -> str:
    """Return what is wrong with a command line, where, and where to read on; `error` is an exception of click."""
    context = getattr(error, "ctx", None)
    text = _explained(error, context).rstrip()
    if text[-1:] not in (".", "?"):
        text += "."
    return text if context is None else f"{text} See: {context.command_path} --help"


def _explained(error: Any, context: Any) -> str:
    kind = type(error).__name__
    if kind == "MissingParameter" and error.param is not None:
        param = error.param
        option = param.param_type_name == "option"
        name = max(param.opts, key=len) if option else param.metavar or param.name.upper()
        help_text = getattr(param, "help", None) or ""
        meaning = f": {help_text[:1].lower()}{help_text[1:]}" if help_text else ""
        return f"Missing {'option' if option else 'argument'} {name}{meaning}"
    if kind == "NoSuchOption":
        near = closest(error.option_name, [name for p in context.command.params for name in p.opts] if context else [])
        return f"No such option {error.option_name}.{near}"
    commands = list(getattr(getattr(context, "command", None), "commands", {}))
    chosen = _CHOSEN.get(getattr(context, "info_name", None) or "", "command")
    match = re.match(r"No such command '(.*?)'", error.format_message())
    if match:
        return f"No such {chosen} '{match[1]}'.{closest(match[1], commands) or _listed(commands)}"
    if error.format_message().startswith("Missing command") and commands:
        return f"Missing {chosen}.{_listed(commands)}"
    text = error.format_message()
    for pattern, better in _REWORDED:
        text = re.sub(pattern, better, text)
    return text.replace(": must be", " must be").replace("Invalid value for '", "Option '", 1)


def _listed(names: list[str]) -> str:
    return f" There is: {', '.join(names)}."
