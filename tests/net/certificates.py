"""Certificates for tests, made by the openssl command."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from heliograph.net.tls import TlsFiles

if TYPE_CHECKING:
    from pathlib import Path


def make(folder: Path, name: str) -> TlsFiles:
    """Return a key and a certificate for 127.0.0.1 that vouches for itself."""
    if shutil.which("openssl") is None:
        pytest.skip("the openssl command is missing, which makes the certificates")
    key, certificate = folder / f"{name}.key", folder / f"{name}.pem"
    subprocess.run(
        [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
            "-nodes", "-days", "2", "-subj", f"/CN={name}", "-addext",
            "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate,
        ],
        check=True, capture_output=True,
    )  # fmt: skip
    return TlsFiles(str(certificate), str(key))
