# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Certificates made at start: an own CA, a server certificate for the loopback names, and client certificates."""

from __future__ import annotations

import ipaddress
import ssl
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_LIFE = timedelta(days=1)


@dataclass(frozen=True)
class Pair:
    """A certificate with its key, both PEM."""

    certificate: bytes
    key: bytes


class Authority:
    """A certificate authority that lives as long as the server."""

    def __init__(self, name: str = "kubesim-ca") -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _named(name)
        basics = x509.BasicConstraints(ca=True, path_length=None)
        usage = x509.KeyUsage(True, False, False, False, False, True, True, False, False)
        builder = _builder(self._name, self._name, self._key.public_key())
        builder = builder.add_extension(basics, critical=True).add_extension(usage, critical=True)
        builder = builder.add_extension(
            x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), critical=False
        )
        self._certificate = builder.sign(self._key, hashes.SHA256())
        self.pem = self._certificate.public_bytes(serialization.Encoding.PEM)

    def server(self) -> Pair:
        """Issue the certificate of the server."""
        addresses = [x509.IPAddress(ipaddress.ip_address(text)) for text in ("127.0.0.1", "::1")]
        names = x509.SubjectAlternativeName([x509.DNSName("localhost"), *addresses])
        return self._issue(_named("kube-apiserver"), ExtendedKeyUsageOID.SERVER_AUTH, names)

    def client(self, name: str, group: str = "") -> Pair:
        """Issue a client certificate: common name = user, organization = group."""
        return self._issue(_named(name, group), ExtendedKeyUsageOID.CLIENT_AUTH, None)

    def context(self, folder: Path) -> ssl.SSLContext:
        """Return the server's TLS settings; clients may show a certificate of this authority.

        Files are left in `folder`.
        """
        pair = self.server()
        write(folder / "server.crt", pair.certificate)
        write(folder / "server.key", pair.key)
        write(folder / "ca.crt", self.pem)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "server.crt", folder / "server.key")
        context.load_verify_locations(cadata=self.pem.decode())
        context.verify_mode = ssl.CERT_OPTIONAL
        return context

    def _issue(
        self, subject: x509.Name, purpose: x509.ObjectIdentifier, names: x509.SubjectAlternativeName | None
    ) -> Pair:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(subject, self._name, key.public_key())
        builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        builder = builder.add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
        identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        builder = builder.add_extension(identifier, critical=False)
        if names is not None:
            builder = builder.add_extension(names, critical=False)
        certificate = builder.sign(self._key, hashes.SHA256())
        encoding = serialization.Encoding.PEM
        plain = key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        return Pair(certificate.public_bytes(encoding), plain)


def write(path: Path, content: bytes) -> None:
    """Write a file that only its owner may read."""
    path.touch(mode=0o600, exist_ok=True)
    path.write_bytes(content)


def _named(name: str, group: str = "") -> x509.Name:
    parts = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group)] if group else []
    return x509.Name([*parts, x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = datetime.now(timezone.utc)
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key)
    builder = builder.serial_number(x509.random_serial_number())
    return builder.not_valid_before(now - timedelta(minutes=5)).not_valid_after(now + _LIFE)
