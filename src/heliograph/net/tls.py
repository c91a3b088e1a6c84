"""TLS: contexts from PEM files, for planets and for clients."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path

from heliograph.event.errors import UsageError


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """The PEM files of one side; empty where there is none."""

    # The certificate chain and private key that show who this side is. A planet must have both.
    certificate: str = ""
    key: str = ""
    # Who vouches for the other side. A planet that has one refuses clients without a certificate
    # of it; a client without one trusts what its system trusts.
    authority: str = ""


def server_context(files: TlsFiles) -> ssl.SSLContext:
    """Return the context of a planet.

    Raises:
        UsageError: A file is missing or is not what it should be.
    """
    if not files.certificate or not files.key:
        raise UsageError("TLS needs a certificate and its key: name both PEM files")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    _load(context, files)
    if files.authority:
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def client_context(files: TlsFiles | None = None) -> ssl.SSLContext:
    """Return the context of a client, which always verifies the planet.

    Raises:
        UsageError: A file is missing or is not what it should be.
    """
    context = ssl.create_default_context(ssl.Purpose.SERVER_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if files is not None:
        _load(context, files)
    return context


def _load(context: ssl.SSLContext, files: TlsFiles) -> None:
    for path in (files.certificate, files.key, files.authority):
        if path and not Path(path).is_file():
            raise UsageError(f"there is no PEM file {path}: check its name")
    try:
        if files.certificate:
            context.load_cert_chain(files.certificate, files.key or None)
    except (ssl.SSLError, OSError) as error:
        raise UsageError(
            f"{files.certificate} and {files.key or 'the same file'} are no certificate with its "
            f"key in PEM ({error.strerror or error}): check that they belong together"
        ) from None
    try:
        if files.authority:
            context.load_verify_locations(files.authority)
    except (ssl.SSLError, OSError) as error:
        raise UsageError(
            f"{files.authority} holds no certificate in PEM ({error.strerror or error})"
        ) from None
