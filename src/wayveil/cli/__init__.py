"""The command line: options in, a few lines or one JSON object out; all work is done by `wayveil.run`."""

from wayveil.cli.app import main

__all__ = ["main"]
