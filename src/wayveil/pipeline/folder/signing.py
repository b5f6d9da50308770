"""Signatures of manifests: who has the publisher's public key knows that nobody else wrote the folder.

The signature is Ed25519 over the bytes of the manifest, 64 bytes in ``manifest.sig``; the manifest has the hash of
every other file.  Keys are PEM files (PKCS 8 and SubjectPublicKeyInfo), so that other programs can make and check them.
"""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any

from wayveil.errors import OutputError, UsageError

__all__ = ["SIGNATURE", "check_signature", "load_signer", "make_keys"]

SIGNATURE = "manifest.sig"
_LARGEST_KEY = 1 << 14


def make_keys(path: Path) -> Path:
    """Write a fresh private key, which only its owner can read, and the public key beside it; return the latter.

    Raises
    ------
    OutputError
        If one of the two files is there already, or cannot be written: a key is never replaced.
    """
    keys, forms = _cryptography()
    key = keys.Ed25519PrivateKey.generate()
    private = key.private_bytes(forms.Encoding.PEM, forms.PrivateFormat.PKCS8, forms.NoEncryption())
    public = key.public_key().public_bytes(forms.Encoding.PEM, forms.PublicFormat.SubjectPublicKeyInfo)
    beside = path.with_name(path.name + ".pub")
    # Links count as well: a key written through one would be somewhere else than it seems.
    if os.path.lexists(path) or os.path.lexists(beside):
        raise OutputError(
            f"{str(path)!r} or {str(beside)!r} already exists; a key is never replaced, so give another name."
        )
    try:
        _write_new(path, private, 0o600)
        # Both files or neither: a private key without its public one is of no use.
        try:
            _write_new(beside, public, 0o644)
        except OSError:
            path.unlink()
            raise
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "the file system refused"
        raise OutputError(f"{str(path)!r}: the keys cannot be written: {reason}.") from None
    return beside


def load_signer(path: Path) -> Any:
    """Return the private key in a file, whose `sign` makes signatures; UsageError if it is none."""
    _, forms = _cryptography()
    return _load(path, "private", lambda content: forms.load_pem_private_key(content, None), "Ed25519PrivateKey")


def check_signature(content: bytes, signature: bytes, public_key: Path) -> bool:
    """Return whether this is the signature of the holder of a key under this content; UsageError if it is no key."""
    _, forms = _cryptography()
    key = _load(public_key, "public", forms.load_pem_public_key, "Ed25519PublicKey")
    try:
        key.verify(signature, content)
    except import_module("cryptography.exceptions").InvalidSignature:
        return False
    return True


def _load(path: Path, what: str, read: Any, name: str) -> Any:
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST_KEY)
    except OSError as error:
        reason = error.strerror or "the system refused"
        raise UsageError(f"The {what} key {str(path)!r} cannot be read: {reason}.") from None
    try:
        key = read(content)
    # Whatever is wrong with the file, a password, another algorithm, garbage, ends in the same sentence.
    except (ValueError, TypeError, import_module("cryptography.exceptions").UnsupportedAlgorithm):
        key = None
    if not isinstance(key, getattr(_cryptography()[0], name)):
        raise UsageError(
            f"The file {str(path)!r} holds no {what} Ed25519 key without a password; make one with wayveil keygen."
        )
    return key


def _write_new(path: Path, content: bytes, mode: int) -> None:
    # Refused if the name exists by then, link or file: between the look above and here somebody may have made it.
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
    with open(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(handle)


def _cryptography() -> tuple[Any, Any]:
    try:
        keys = import_module("cryptography.hazmat.primitives.asymmetric.ed25519")
        forms = import_module("cryptography.hazmat.primitives.serialization")
    except ImportError:
        raise UsageError("Signatures need cryptography, which is not installed: install wayveil[sign].") from None
    return keys, forms
