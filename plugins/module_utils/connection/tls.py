# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the TLS context of a connection from certificates in memory, so that no key is written to disk."""

from __future__ import annotations

import contextlib
import os
import re
import ssl
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ..errors import InvalidConfiguration
from .secrecy import is_content

_CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)


@dataclass(frozen=True)
class Pem:
    """Certificates or a key, and where they come from, for errors."""

    data: bytes = field(repr=False)
    name: str


@dataclass(frozen=True)
class TlsMaterial:
    """What a TLS connection needs. Without a CA the system's are trusted; server_name replaces the host's name."""

    verify: bool = True
    ca: Pem | None = None
    certificate: Pem | None = None
    key: Pem | None = None
    server_name: str = ""


def read_pem(path: str, name: str) -> Pem:
    """Return the content of a certificate or key file; C(name) says what it is, such as C(ca_cert)."""
    if is_content(path):
        raise InvalidConfiguration(
            f"The value of {name} is the content of a file and not its path: give the path, or use a kubeconfig with"
            " client-key-data, client-certificate-data and certificate-authority-data."
        )
    try:
        with open(path, "rb") as file:
            return Pem(file.read(), f"{name} {path}")
    except (OSError, ValueError) as exc:
        # A ValueError: the path is not valid, such as one with a NUL in it.
        why = getattr(exc, "strerror", None) or "unreadable"
        raise InvalidConfiguration(
            f"The file of {name} cannot be read: {path} ({why}); paths are those of the host that the task runs on."
        ) from exc


def tls_context(material: TlsMaterial) -> ssl.SSLContext:
    """Return a context that verifies as kubectl does and presents the client certificate, if there is one.

    The extra strictness that Python 3.13 adds to its default context would refuse the CAs of many clusters, and an
    intermediate certificate is good enough as CA. A client certificate is presented even if the server is not verified.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.set_alpn_protocols(["http/1.1"])
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    if not material.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif material.ca is None:
        context.load_default_certs()
    else:
        _trust(context, material.ca)
    if material.certificate is not None:
        _present(context, material.certificate, material.key)
    elif material.key is not None:
        raise InvalidConfiguration(
            f"There is a key ({material.key.name}) but no client certificate: give client_cert too."
        )
    return context


def system_ca_file() -> str:
    """Return the path of a file with the CAs that the system trusts."""
    import certifi  # comes with the kubernetes package

    return ssl.get_default_verify_paths().cafile or str(certifi.where())


def _trust(context: ssl.SSLContext, ca: Pem) -> None:
    text = ca.data.decode("latin-1")
    blocks = "\n".join(_CERTIFICATE.findall(text))
    try:
        # DER, the binary form, begins with an ASN.1 sequence.
        context.load_verify_locations(cadata=ca.data if ca.data[:1] == b"\x30" and not blocks else blocks)
    except (ssl.SSLError, ValueError, UnicodeError):
        raise InvalidConfiguration(
            f"There is no usable certificate in {ca.name}: give the CA certificate of the API server in PEM form."
        ) from None


def _present(context: ssl.SSLContext, certificate: Pem, key: Pem | None) -> None:
    source = certificate.name if key is None else f"{certificate.name} and {key.name}"
    with _path_of(certificate.data) as cert_path, _path_of((key or certificate).data) as key_path:
        try:
            # An empty password makes an encrypted key fail here; without it OpenSSL would ask at the terminal.
            context.load_cert_chain(cert_path, key_path, password="")
        except (ssl.SSLError, ValueError) as exc:
            if "KEY_VALUES_MISMATCH" in str(exc):
                why = "the key belongs to another certificate"
            else:
                why = "they have to be an unencrypted key and its certificate in PEM form"
            raise InvalidConfiguration(f"The client certificate cannot be used ({source}): {why}.") from None


@contextlib.contextmanager
def _path_of(data: bytes) -> Iterator[str]:
    """Yield the path of a file without a name, because OpenSSL reads client certificates only from files.

    It is in memory where the system can do that, else without a directory entry, so that nothing is left whenever the
    process ends.
    """
    with os.fdopen(os.memfd_create("pem"), "w+b") if hasattr(os, "memfd_create") else tempfile.TemporaryFile() as file:
        path = f"/dev/fd/{file.fileno()}"
        if os.path.exists(path):
            yield _written(file, data, path)
            return
    with tempfile.NamedTemporaryFile() as named:
        yield _written(named, data, named.name)


def _written(file: Any, data: bytes, path: str) -> str:
    file.write(data)
    file.flush()
    # On some systems opening /dev/fd/N continues at the descriptor's position.
    file.seek(0)
    return path
