#!/usr/bin/env python3
# This file is part of the connector-host project.
# SPDX-License-Identifier: Apache-2.0
#
# Replaces the identities of the tests: an operator with one account and two users for nats-server, and a second version of the
# account that has revoked the first user. They never expire. All of it is test data: the keys follow from this file, for everybody to
# see. Needs the package cryptography.

import base64
import hashlib
import json
import os

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

OPERATOR, ACCOUNT, USER, SEED = 14 << 3, 0, 20 << 3, 18 << 3


def checksum(data):
    """CRC-16/XMODEM."""
    value = 0
    for byte in data:
        value ^= byte << 8
        for _ in range(8):
            value = (value << 1 ^ 0x1021 if value & 0x8000 else value << 1) & 0xFFFF
    return value.to_bytes(2, "little")


def base32(data):
    return base64.b32encode(data).decode().rstrip("=")


def base64url(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


class Key:
    """A pair of keys as NATS writes them (github.com/nats-io/nkeys)."""

    def __init__(self, kind, name):
        secret = hashlib.sha256(f"connector-host test {name}".encode()).digest()
        self.private = Ed25519PrivateKey.from_private_bytes(secret)
        public = bytes([kind]) + self.private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        self.public = base32(public + checksum(public))
        seed = bytes([SEED | kind >> 5, (kind & 31) << 3]) + secret
        self.seed = base32(seed + checksum(seed))


def token(issuer, subject, name, claims, issued=1_700_000_000):
    """A JSON Web Token as NATS signs it."""
    body = {"iat": issued, "iss": issuer.public, "name": name, "sub": subject.public, "nats": claims | {"version": 2}}
    body["jti"] = base32(hashlib.sha256(json.dumps(body).encode()).digest())
    parts = [{"typ": "JWT", "alg": "ed25519-nkey"}, body]
    text = ".".join(base64url(json.dumps(part, separators=(",", ":")).encode()) for part in parts)
    return f"{text}.{base64url(issuer.private.sign(text.encode()))}"


def write(name, text):
    with open(os.path.join(os.path.dirname(__file__), name), "w") as file:
        file.write(text)


operator, system, account = Key(OPERATOR, "operator"), Key(ACCOUNT, "system"), Key(ACCOUNT, "account")
users = {name: Key(USER, name) for name in ("first", "second")}
limits = {key: -1 for key in ("subs", "data", "payload", "imports", "exports", "conn", "leaf")} | {"wildcards": True}
storage = {key: -1 for key in ("mem_storage", "disk_storage", "streams", "consumer")}
nobody = {"default_permissions": {"pub": {}, "sub": {}}}

operator_token = token(operator, operator, "test", {"type": "operator", "system_account": system.public})
system_token = token(operator, system, "SYS", {"type": "account", "limits": limits} | nobody)
for name, issued, more in (
    ("both", 1_700_000_000, {}),
    ("second", 1_700_000_001, {"revocations": {users["first"].public: 1_800_000_000}}),
):
    claims = {"type": "account", "limits": limits | storage} | nobody | more
    account_token = token(operator, account, "APP", claims, issued)
    write(
        f"{name}.conf",
        f"# Test data of connector-host, made by make.py.\n"
        f"operator: {operator_token}\nsystem_account: {system.public}\nresolver: MEMORY\n"
        f"resolver_preload: {{\n    {account.public}: {account_token}\n    {system.public}: {system_token}\n}}\n",
    )
for name, user in users.items():
    claims = {"type": "user", "pub": {}, "sub": {}, "subs": -1, "data": -1, "payload": -1}
    write(
        f"{name}.creds",
        "Test data of connector-host: known to everybody, trusted by nobody.\n"
        f"-----BEGIN NATS USER JWT-----\n{token(account, user, name, claims)}\n------END NATS USER JWT------\n\n"
        f"-----BEGIN USER NKEY SEED-----\n{user.seed}\n------END USER NKEY SEED------\n",
    )
