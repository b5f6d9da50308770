"""Wayveil in a browser, on this machine: a local server that runs the same pipeline as the command line."""

from wayveil.web.server.serving import read_token, serve

__all__ = ["read_token", "serve"]
