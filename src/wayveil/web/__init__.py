"""Wayveil in a browser, on this machine: a local server that runs the same pipeline as the command line."""

from wayveil.web.serving import serve

__all__ = ["serve"]
