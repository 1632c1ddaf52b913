#!/bin/bash
# This file is part of the connector-host project.
# SPDX-License-Identifier: Apache-2.0
#
# Replaces the certificates of the tests: an authority, a server named localhost, and a client that is its own authority. All are
# test data: the keys of the server and the client lie here for everybody to see, and nothing outside the tests may trust the
# authority, whose key is thrown away, or the client.
set -euo pipefail
cd "$(dirname "$0")"
authority_key=$(mktemp)
request=$(mktemp)
trap 'rm -f "$authority_key" "$request"' EXIT

openssl ecparam -name prime256v1 -genkey -noout -out "$authority_key"
openssl req -new -x509 -key "$authority_key" -out authority.pem -days 36500 \
    -subj '/CN=connector-host tests: trust this nowhere' -addext 'basicConstraints=critical,CA:TRUE'
openssl ecparam -name prime256v1 -genkey -noout -out localhost.key.pem
openssl req -new -key localhost.key.pem -out "$request" -subj '/CN=localhost'
openssl x509 -req -in "$request" -CA authority.pem -CAkey "$authority_key" -set_serial 1 -out localhost.pem -days 36500 \
    -extfile <(printf 'subjectAltName=DNS:localhost\nextendedKeyUsage=serverAuth\n')
openssl ecparam -name prime256v1 -genkey -noout -out client.key.pem
openssl req -new -x509 -key client.key.pem -out client.pem -days 36500 \
    -subj '/CN=connector-host tests: a client' -addext 'basicConstraints=critical,CA:TRUE'
sed -i '1i Test data of connector-host: known to everybody, trusted by nobody.' ./*.pem
chmod 644 ./*.pem
