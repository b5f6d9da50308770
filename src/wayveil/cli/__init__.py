"""The command line: options in, a few lines or one JSON object out; the pipeline and the commands do all work."""

from wayveil.cli.app import main

__all__ = ["main"]
