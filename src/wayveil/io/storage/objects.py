"""Objects in a bucket: list, fetch, write and remove them, and one sentence for what can go wrong.

What speaks to a storage is an `fsspec` file system; it finds credentials as the tools of the storage do.  What it says
in an error may hold keys, signatures or names, so no word of it is ever repeated.
"""

from __future__ import annotations

import errno
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from wayveil.errors import InputError, OutputError, UsageError, WayveilError
from wayveil.io.storage.addresses import SCHEMES

__all__ = ["Bucket", "fetch_objects"]

_CHUNK = 1 << 20
_WILD = "*?["

_NO_CREDENTIALS = (
    "NoCredentialsError",
    "PartialCredentialsError",
    "CredentialRetrievalError",
    "ProfileNotFound",
    "TokenRetrievalError",
    "NoAuthTokenError",
    "DefaultCredentialsError",
    "RefreshError",
    "GoogleAuthError",
    "CredentialUnavailableError",
    "ClientAuthenticationError",
)
_REFUSED = ("PermissionError", "Forbidden", "HttpError", "ClientError")
_UNREACHABLE = (
    "EndpointConnectionError",
    "ConnectTimeoutError",
    "ConnectionClosedError",
    "ReadTimeoutError",
    "HTTPClientError",
    "ServiceRequestError",
    "ServiceResponseError",
    "ClientConnectorError",
    "TransportError",
    "gaierror",
    "ConnectionError",
    "TimeoutError",
    "FSTimeoutError",
)
_HINTS = {
    "s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile, or a role",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS, or gcloud auth application-default login",
    "az": "AZURE_STORAGE_CONNECTION_STRING, or AZURE_STORAGE_ACCOUNT_NAME with a key or a token",
}


class Bucket:
    """The objects below one address, through the package that speaks its scheme."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.scheme, _, self._path = address.partition("://")
        self._name = self._path.partition("/")[0]
        package = SCHEMES[self.scheme]
        try:
            import fsspec

            self._class = fsspec.get_filesystem_class(self.scheme)
        except ImportError:
            raise UsageError(
                f"{self.scheme}:// needs the package {package}, which is not installed: install wayveil[cloud]."
            ) from None
        with self._reporting():
            # Listings are never taken from memory: what others wrote a moment ago counts.
            self._files: Any = self._class(skip_instance_cache=True, use_listings_cache=False)

    def names(self) -> list[str]:
        """Return the names of all objects below the address, relative to it; [""] where it is an object itself."""
        with self._reporting():
            if any(sign in self._path for sign in _WILD):
                paths = self._files.glob(self._path)
                base = _folder_of(self._path)
            elif self._files.isfile(self._path):
                return [""]
            else:
                paths = self._files.find(self._path)
                base = self._path
            names = [name[len(base) + 1 :] for name in paths if not name.endswith("/")]
        return sorted(name for name in names if name)

    def check_there(self) -> None:
        """Raise InputError where there is no such bucket."""
        with self._reporting():
            is_there = self._files.exists(self._name)
        if not is_there:
            raise InputError(f"{self.address}: there is no bucket {self._name!r}, or you may not see it.")

    def fetch(self, name: str, file: Path) -> None:
        """Copy an object to a file."""
        with self._reporting():
            self._files.get_file(self._at(name), str(file))

    def write(self, name: str, file: Path) -> None:
        """Write a file as an object, in one step as every storage does it: nobody ever sees a half one."""
        with self._reporting(writing=True):
            self._files.put_file(str(file), self._at(name))

    def remove(self, name: str) -> None:
        """Remove an object."""
        with self._reporting(writing=True):
            self._files.rm_file(self._at(name))

    def sha256(self, name: str) -> str:
        """Return the hash of an object as the storage hands it out."""
        digest = hashlib.sha256()
        with self._reporting(), self._files.open(self._at(name), "rb") as stream:
            while chunk := stream.read(_CHUNK):
                digest.update(chunk)
        return digest.hexdigest()

    def _at(self, name: str) -> str:
        base = _folder_of(self._path) if any(sign in self._path for sign in _WILD) else self._path
        return f"{base}/{name}" if name else base

    @contextmanager
    def _reporting(self, *, writing: bool = False) -> Iterator[None]:
        """Turn what a storage refuses into one sentence, in which nothing of its own words is repeated."""
        try:
            yield
        except WayveilError:
            raise
        except Exception as error:
            raise self._sentence(error, writing) from None

    def _sentence(self, error: Exception, writing: bool) -> WayveilError:
        names = {cls.__name__ for one in _causes(error) for cls in type(one).__mro__}
        numbers = {getattr(one, "errno", None) for one in _causes(error)}
        kind: type[WayveilError] = OutputError if writing else InputError
        if numbers & {errno.ENOSPC, errno.EDQUOT}:
            return OutputError(f"The disk is full: {self.address} does not fit; make room and start again.")
        if names & {*_NO_CREDENTIALS} or (isinstance(error, ValueError) and self.scheme == "az"):
            return kind(
                f"{self.address}: no credentials were found, or they are not accepted; give them as {self.scheme}:// "
                f"usually takes them ({_HINTS[self.scheme]})."
            )
        if names & {"FileNotFoundError", "NotFound", "ResourceNotFoundError", "NoSuchBucket"}:
            return kind(f"{self.address}: there is no bucket {self._name!r}, or no such object in it.")
        if names & {*_UNREACHABLE}:
            return kind(f"{self.address}: the storage cannot be reached; check the network and the endpoint.")
        if names & {*_REFUSED}:
            return kind(f"{self.address}: the storage refuses access with the credentials that were found.")
        return kind(f"{self.address}: the storage did not answer as expected ({type(error).__name__}).")


def fetch_objects(address: str, folder: Path) -> Path:
    """Copy an object, a folder of objects or a pattern of them below `folder`; return where it is.

    The copy has the name that the object has, so that whoever reads it can tell by the name what it is.
    """
    bucket = Bucket(address)
    target = folder / bucket.scheme / address.partition("://")[2]
    names = bucket.names()
    if not names:
        bucket.check_there()
        raise InputError(f"{address}: there is no such object, and no folder of that name, in the bucket.")
    base = target.parent if any(sign in address for sign in _WILD) else target
    # Whoever can write to the bucket chose the names: none may lead out of the folder.
    if any(part in ("", ".", "..") or "\0" in part for name in names if name for part in name.split("/")):
        raise InputError(f"{address}: an object has a name that no file can have; copy what you need elsewhere.")
    for name in names:
        file = base / name
        file.parent.mkdir(parents=True, exist_ok=True)
        bucket.fetch(name, file)
    return target


def _folder_of(path: str) -> str:
    """Return the part of a pattern that has no wildcard."""
    return path.rpartition("/")[0]


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
