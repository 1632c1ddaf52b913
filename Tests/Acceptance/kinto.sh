#!/bin/bash
# This file is part of the connector-host project.
# SPDX-License-Identifier: Apache-2.0
#
# The adapter `kinto` with a Kinto server from PyPI that keeps its records in memory; then the same calls with `parse`.

source "$(dirname "$0")/harness.sh"
source "$(dirname "$0")/database.sh"
KINTO_VERSION=${KINTO_VERSION:-26.5.0}

virtual_environment "kinto==$KINTO_VERSION"
port=$(free_port)
server=http://127.0.0.1:$port/v1
cat > "$scratch/kinto.ini" << INI
[server:main]
use = egg:waitress#main
host = 127.0.0.1
port = $port
[app:main]
use = egg:kinto
kinto.includes = kinto.plugins.accounts
kinto.storage_backend = kinto.core.storage.memory
kinto.cache_backend = kinto.core.cache.memory
kinto.permission_backend = kinto.core.permission.memory
kinto.userid_hmac_secret = acceptance
kinto.account_create_principals = system.Everyone
multiauth.policies = account
multiauth.policy.account.use = kinto.plugins.accounts.authentication.AccountsAuthenticationPolicy
INI
start kinto "$scratch/python/bin/kinto" start --ini "$scratch/kinto.ini" --port "$port"
await kinto "$server/"
json=(--header 'Content-Type: application/json')
curl --silent --fail --output /dev/null -X PUT "${json[@]}" -d '{"data":{"password":"right horse"}}' "$server/accounts/alice"
curl --silent --fail --output /dev/null -X PUT "${json[@]}" -u 'alice:right horse' "$server/buckets/shop"

kinto() {
    configure << JSON
{"connectors": [{"name": "database", "plugin": "kinto", "retry": {"attempts": 1}, "config":
  {"endpoint": "$server", "bucket": "${2:-shop}", "username": "alice", "password": "${1:-right horse}"}}]}
JSON
}

section "kinto $KINTO_VERSION: opening"
kinto
host status
expect 'the gate is open' 'status == 0 and gate("database")["state"] == "open"'
expect 'the evidence is authenticated, and names the user' \
    'evidence("database")[-1] == "authenticated" and "account:alice" in gate("database")["evidence"][-1]["detail"]'
expect 'the password is nowhere in the report' '"right horse" not in text'
kinto 'wrong horse'
host status
expect 'a wrong password is unauthorized' \
    'status == 1 and gate("database")["state"] == "failed" and gate("database")["error"]["code"] == "unauthorized"'
expect 'no evidence is claimed' 'evidence("database") == [] or evidence("database") == ["configured"]'
expect 'the wrong password is nowhere in the report' '"wrong horse" not in text'
call database get notes n1
expect 'a call fails too' 'status == 1 and code in ("not-open", "unauthorized")'
kinto 'right horse' nowhere
host status
expect 'of a bucket that is not there, which Kinto does not tell from one that is closed, the evidence says so' \
    'evidence("database") == ["authenticated"] and "nowhere does not exist" in gate("database")["evidence"][0]["detail"]'

section "kinto $KINTO_VERSION: records"
kinto
exercise_database
version=$kept
ask -u 'alice:right horse' "$server/buckets/shop/collections/notes/records/kept"
expect 'the server itself has the record' 'answer["data"]["title"] == "Kept" and answer["data"]["tags"] == ["a", "b"]'
VERSION=$version expect 'its time is the version' 'str(answer["data"]["last_modified"]) == var["VERSION"]'

section "kinto $KINTO_VERSION: versions"
call database replace notes kept '{"title": "Replaced"}' version="$version"
expect 'a replacement on the present version goes through' 'result["data"] == {"title": "Replaced"}'
export VERSION=$version
expect 'and makes another version' 'int(result["version"]) > int(var["VERSION"])'
call database replace notes kept '{"title": "Late"}' version="$version"
expect 'on an old version it is a conflict' 'status == 1 and code == "conflict"'
call database update notes kept '{"title": "Late"}' version="$version"
expect 'so is an update' 'status == 1 and code == "conflict"'
call database delete notes kept version="$version"
expect 'and a deletion' 'status == 1 and code == "conflict"'
ask -u 'alice:right horse' "$server/buckets/shop/collections/notes/records/kept"
expect 'the server kept the record' 'answer["data"]["title"] == "Replaced"'
call database replace notes kept '{"title": "Late"}' version=yesterday
expect 'a version that Kinto cannot have given is invalid' 'status == 1 and code == "invalid"'
call database get notes 'kept/x'
expect 'so is a name with a slash, which would lead elsewhere' 'status == 1 and code == "invalid"'
call database create notes '{"last_modified": 1}'
expect "Kinto's own members are refused, by name" 'code == "invalid" and "last_modified" in error["message"]'

section "kinto $KINTO_VERSION: stopped"
stop kinto
host status
expect 'the gate has failed' 'status == 1 and gate("database")["state"] == "failed"'
expect 'unavailable, with the cause' \
    'gate("database")["error"]["code"] == "unavailable" and gate("database")["error"]["cause"]'

section 'failover: kinto, which is stopped, then parse'
simulate parse
configure << JSON
{"connectors": [{"name": "database", "policy": "first", "connectors": [
  {"name": "kinto", "plugin": "kinto", "required": false, "config":
    {"endpoint": "$server", "bucket": "shop", "username": "alice", "password": "right horse"}},
  {"name": "parse", "plugin": "parse", "config":
    {"endpoint": "$simulated", "applicationId": "demo-app", "restApiKey": "demo-rest-key"}}]}]}
JSON
host status
expect 'one gate has failed, the other is open' \
    'status == 0 and gate("database/kinto")["state"] == "failed" and gate("database/parse")["state"] == "open"'
call database create notes '{"title": "Milk"}'
expect 'the record is created all the same' 'status == 0 and result["data"] == {"title": "Milk"}'
stop simulated-parse

section 'parse (simulator): the same calls'
simulate parse
configure << JSON
{"connectors": [{"name": "database", "plugin": "parse", "config":
  {"endpoint": "$simulated", "applicationId": "demo-app", "restApiKey": "demo-rest-key"}}]}
JSON
host status
expect 'the gate is open' 'status == 0 and evidence("database")[-1] == "authenticated"'
IDS=server exercise_database
