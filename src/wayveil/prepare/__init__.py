"""Model -> model: steps that make raw data fit for a method."""

from wayveil.prepare.bucket import Bucket

__all__ = ["STEPS", "Bucket"]

STEPS: dict[str, type[Bucket]] = {Bucket.name: Bucket}
"""Every preparation step by its name on the command line and in recipes."""
