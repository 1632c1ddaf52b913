#!/bin/bash
# This file is part of the connector-host project.
# SPDX-License-Identifier: Apache-2.0
#
# The adapter `datasette` with a Datasette server from PyPI, a version with the JSON API that writes; then the same calls with
# the simulator, and with `kinto`.

source "$(dirname "$0")/harness.sh"
source "$(dirname "$0")/database.sh"
DATASETTE_VERSION=${DATASETTE_VERSION:-1.0a41}

virtual_environment "datasette==$DATASETTE_VERSION"
python3 - "$scratch/shop.db" << 'PYTHON'
import sqlite3, sys
database = sqlite3.connect(sys.argv[1])
identity = "id TEXT PRIMARY KEY DEFAULT (lower(hex(randomblob(8))))"
database.executescript(f"""
    CREATE TABLE notes ({identity}, title TEXT, count INTEGER, done INTEGER, tags TEXT);
    CREATE TABLE numbers ({identity}, number INTEGER, parity TEXT, text TEXT);
    CREATE TABLE empty ({identity}, number INTEGER);
    CREATE TABLE counted (id INTEGER PRIMARY KEY, title TEXT);
    CREATE TABLE bare (id TEXT PRIMARY KEY, title TEXT);
    CREATE TABLE "odd ~ name/é.json" ({identity}, "_a__b" TEXT);
""")
PYTHON
port=$(free_port)
server=http://127.0.0.1:$port
start datasette "$scratch/python/bin/datasette" "$scratch/shop.db" --root --secret acceptance --port "$port"
await datasette "$server/shop.json"
owner=$("$scratch/python/bin/datasette" create-token root --secret acceptance)
guest=$("$scratch/python/bin/datasette" create-token guest --secret acceptance)

datasette() {
    configure << JSON
{"connectors": [{"name": "database", "plugin": "datasette", "retry": {"attempts": 1}, "config":
  {"endpoint": "$server", "database": "${2:-shop}", "token": "${1:-$owner}"}}]}
JSON
}

section "datasette $DATASETTE_VERSION: opening"
datasette
host status
expect 'the gate is open' 'status == 0 and gate("database")["state"] == "open"'
expect 'the evidence is authenticated, and names the actor' \
    'evidence("database") == ["reachable", "authenticated"] and "root" in gate("database")["evidence"][-1]["detail"]'
export OWNER=$owner
expect 'the token is nowhere in the report' 'var["OWNER"] not in text'
for token in dstok_wrong-horse wrong-horse; do
    datasette "$token"
    host status
    expect "the token $token is unauthorized" \
        'status == 1 and gate("database")["state"] == "failed" and gate("database")["error"]["code"] == "unauthorized"'
    expect 'and nowhere in the report' '"wrong-horse" not in text'
done
datasette "$owner" nowhere
host status
expect 'a database that is not there is missing' 'status == 1 and gate("database")["error"]["code"] == "missing"'
datasette "$guest"
host status
expect 'a token without rights opens, for reading' 'status == 0 and "guest" in gate("database")["evidence"][-1]["detail"]'
call database create notes '{"title": "Milk"}'
expect 'and may not write' 'status == 1 and code == "unauthorized" and "Permission denied" in error["message"]'

section "datasette $DATASETTE_VERSION: records"
datasette
export TABLES=typed
exercise_database
ask "$server/shop/notes/kept.json?_shape=objects"
expect 'the server itself has the record' 'answer["rows"][0]["title"] == "Kept" and answer["rows"][0]["tags"] == "[\"a\", \"b\"]"'
call database replace notes kept '{"title": "Late"}' version=1
expect 'a version is unsupported' 'status == 1 and code == "unsupported"'
call database create counted '{"title": "One"}'
expect 'a number is an id, too' 'status == 0 and result["id"] == "1"'
call database get counted 1
expect 'by which the row is found' 'result["data"] == {"title": "One"}'
call database create bare '{"title": "Lost"}'
expect 'a row without an id is told, with what to do' 'status == 1 and code == "invalid" and "default" in error["message"]'
call database create notes '{"nocol": 1}'
expect 'a column that is not there is invalid, by name' 'status == 1 and code == "invalid" and "nocol" in error["message"]'
call database query notes '{"where": {"nocol": {"ne": "x"}}}'
expect 'in a query, too' 'status == 1 and code == "invalid" and "nocol" in error["message"]'
call database create 'odd ~ name/é.json' '{"_a__b": "x"}' id='ä/b.json'
expect 'every mark may stand in names and ids' 'status == 0 and result["id"] == "ä/b.json"'
call database get 'odd ~ name/é.json' 'ä/b.json'
expect 'and is found again' 'status == 0 and result["data"] == {"_a__b": "x"}'
call database query 'odd ~ name/é.json' '{"where": {"_a__b": "x"}}'
expect 'by a query, too' '[record["id"] for record in result["records"]] == ["ä/b.json"]'
call database query notes '{"where": {"title": null}}'
expect 'null is found' 'status == 0 and result["records"] == []'

section "datasette $DATASETTE_VERSION: stopped"
stop datasette
host status
expect 'the gate has failed: unavailable, with the cause' \
    'status == 1 and gate("database")["error"]["code"] == "unavailable" and gate("database")["error"]["cause"]'

section 'datasette (simulator): the same calls'
simulate datasette
configure << JSON
{"connectors": [{"name": "database", "plugin": "datasette", "config":
  {"endpoint": "$simulated", "database": "demo", "token": "dstok_demo"}}]}
JSON
host status
expect 'the gate is open' 'status == 0 and evidence("database")[-1] == "authenticated"'
# The simulator has the tables that something was inserted into.
call database create empty '{}' id=x
call database delete empty x
exercise_database
unset TABLES

section 'kinto (simulator): the same calls'
simulate kinto
configure << JSON
{"connectors": [{"name": "database", "plugin": "kinto", "config":
  {"endpoint": "$simulated/v1", "bucket": "demo", "username": "demo", "password": "demo-password"}}]}
JSON
host status
expect 'the gate is open' 'status == 0 and evidence("database")[-1] == "authenticated"'
exercise_database
