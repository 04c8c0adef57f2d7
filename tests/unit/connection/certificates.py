# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make certificates for a test: an authority, and what it signs."""

from __future__ import annotations

import datetime
import ipaddress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass(frozen=True)
class Pair:
    """A certificate and its key in PEM form."""

    cert: bytes
    key: bytes

    def write(self, folder: Path, name: str) -> tuple[str, str]:
        """Write both to a folder and return their paths."""
        paths = folder / f"{name}.crt", folder / f"{name}.key"
        paths[0].write_bytes(self.cert)
        paths[1].write_bytes(self.key)
        return str(paths[0]), str(paths[1])


class Authority:
    """A certificate authority. `parent` makes it an intermediate one."""

    def __init__(self, name: str, parent: Authority | None = None) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name(name)
        builder = _builder(self._name, parent._name if parent else self._name, self._key)
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        self._cert = builder.sign(parent._key if parent else self._key, hashes.SHA256())

    @property
    def pem(self) -> bytes:
        """Return the authority's certificate."""
        return self._cert.public_bytes(serialization.Encoding.PEM)

    @property
    def der(self) -> bytes:
        """Return the authority's certificate in binary form."""
        return self._cert.public_bytes(serialization.Encoding.DER)

    def issue(self, common_name: str, *names: str) -> Pair:
        """Return a certificate for a user, or for a server with host names and addresses."""
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(_name(common_name), self._name, key)
        if names:
            builder = builder.add_extension(x509.SubjectAlternativeName([_general(name) for name in names]), False)
        cert = builder.sign(self._key, hashes.SHA256())
        return Pair(cert.public_bytes(serialization.Encoding.PEM), pem_of(key))


def pem_of(key: ec.EllipticCurvePrivateKey, password: bytes | None = None) -> bytes:
    """Return a key in PEM form, encrypted if there is a password."""
    how = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, how)


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _general(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.timezone.utc)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
    )
