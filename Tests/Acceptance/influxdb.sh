#!/bin/bash
# This file is part of the connector-host project.
# SPDX-License-Identifier: Apache-2.0
#
# The adapter `influxdb` with InfluxDB 1.x from Debian, unpacked but not installed; then the same calls with `segment` and
# `posthog`.

source "$(dirname "$0")/harness.sh"
source "$(dirname "$0")/analytics.sh"

unpack influxdb
INFLUXDB_VERSION=$("$scratch/influxdb/usr/bin/influxd" version | awk '{ print $2 }')
port=$(free_port)
server=http://127.0.0.1:$port
cat > "$scratch/influxdb.conf" << TOML
reporting-disabled = true
bind-address = "127.0.0.1:$(free_port)"
[meta]
  dir = "$scratch/influxdb/meta"
[data]
  dir = "$scratch/influxdb/data"
  wal-dir = "$scratch/influxdb/wal"
[http]
  bind-address = "127.0.0.1:$port"
  auth-enabled = true
[monitor]
  store-enabled = false
TOML
start influxdb "$scratch/influxdb/usr/bin/influxd" -config "$scratch/influxdb.conf"
await influxdb "$server/ping"

query() { ask --get --user root:root "$server/query" --data-urlencode 'epoch=ns' --data-urlencode "db=shop" --data-urlencode "q=$1"; }
administrate() { curl --silent --fail --output /dev/null --user root:root "$server/query" --data-urlencode "q=$1"; }
administrate "CREATE USER root WITH PASSWORD 'root' WITH ALL PRIVILEGES"
administrate 'CREATE DATABASE shop'
administrate "CREATE USER writer WITH PASSWORD 'right horse'"
administrate 'GRANT WRITE ON shop TO writer'
administrate "CREATE USER reader WITH PASSWORD 'right horse'"
administrate 'GRANT READ ON shop TO reader'

influxdb() {
    configure << JSON
{"connectors": [{"name": "analytics", "plugin": "influxdb", "config":
  {"endpoint": "$server", "database": "${3:-shop}", "username": "${2:-writer}", "password": "${1:-right horse}"}}]}
JSON
}

section "influxdb $INFLUXDB_VERSION: opening"
influxdb
host status
expect 'the gate is open' 'status == 0 and gate("analytics")["state"] == "open"'
expect 'the evidence is authenticated' 'evidence("analytics")[-1] == "authenticated"'
query 'SHOW MEASUREMENTS'
expect 'opening writes nothing' '"series" not in answer["results"][0]'
influxdb 'wrong horse'
host status
expect 'a wrong password is unauthorized' 'status == 1 and gate("analytics")["error"]["code"] == "unauthorized"'
expect 'and nowhere in the report' '"wrong horse" not in text'
influxdb 'right horse' reader
host status
expect 'a user who may not write is refused, with the words of the server' \
    'status == 1 and gate("analytics")["error"]["code"] in ("unauthorized", "denied") and "not authorized to write" in text'
influxdb 'right horse' writer nowhere
host status
expect 'a database that is not there is missing' \
    'status == 1 and gate("analytics")["error"]["code"] == "missing" and "database not found" in text'

section "influxdb $INFLUXDB_VERSION: events"
influxdb
exercise_analytics
query 'SELECT * FROM "Order Completed"'
series='dict(zip(answer["results"][0]["series"][0]["columns"], answer["results"][0]["series"][0]["values"][0]))'
expect 'the query of the server returns the event' "$series[\"total\"] == 42.5 and $series[\"userId\"] == \"u1\""
expect 'once' 'len(answer["results"][0]["series"][0]["values"]) == 1'
expect 'with numbers as floats, truths and text as they were' \
    "($series[\"items\"], $series[\"gift\"], $series[\"note\"]) == (3, True, 'two \\\\ lines\\n\"quoted\", a=b')"
expect 'objects by the names of their members' "$series[\"address.city\"] == \"Köln\""
expect 'its id, and its time to the millisecond' \
    "$series[\"messageId\"] == \"m-1\" and $series[\"time\"] // 1000000 == 1772366400123"
call analytics track '{"event": "Order Completed", "userId": "u1", "messageId": "m-1", "timestamp": "2026-03-01T12:00:00.123Z", "properties": {"total": 42.5}}'
query 'SELECT * FROM "Order Completed"'
expect 'an event that is delivered twice counts once' 'len(answer["results"][0]["series"][0]["values"]) == 1'
query 'SELECT sum(words) FROM "Searched, and = found"'
expect 'of the batch too, though its name has commas and equals signs' \
    'answer["results"][0]["series"][0]["values"][0][1] == 7'
call analytics deliver '[
    {"type": "track", "event": "ends\\", "userId": "u3", "properties": {"words": 3}},
    {"type": "track", "event": "a\\,b\\ c", "userId": "u3", "properties": {"words": 4}}]'
query 'SELECT sum(words) FROM "ends_"; SELECT sum(words) FROM "a_,b_ c"'
expect 'events whose names have backslashes before commas, spaces and the end are found, under names with _ in their place' \
    '[result["series"][0]["values"][0][1] for result in answer["results"]] == [3, 4]'
query 'SHOW MEASUREMENTS'
expect 'the other calls stand under their kinds' \
    '{"alias", "group", "identify", "page", "screen"} <= {row[0] for row in answer["results"][0]["series"][0]["values"]}'
call analytics track '{"event": "Order Completed", "userId": "u1", "timestamp": "2026-03-01T12:00:01Z", "properties": {"total": "much"}}'
expect 'what the server refuses is invalid, in its words' 'status == 1 and code == "invalid" and "field type conflict" in text'

section "influxdb $INFLUXDB_VERSION: down, back, and its password changed twice"
password() { (umask 077 && printf '%s' "$1" > "$scratch/password.new") && mv "$scratch/password.new" "$scratch/password"; }
# Sends that many events, with the next numbers, through the outbox.
sent=0
send() {
    local lines=()
    for ((number = sent + 1; number <= sent + $1; number++)); do
        lines+=("{\"event\": \"Outage\", \"userId\": \"u1\", \"messageId\": \"outage-$number\"}")
    done
    sent=$((sent + $1))
    status=0
    printf '%s\n' "${lines[@]}" \
        | "$CONNECTOR_HOST" send analytics track - --config "$scratch/connectors.json" --json > "$scratch/answer" 2> "$scratch/messages" || status=$?
    expect "up to number $sent they are stored" 'status == 0'
}
# Asks until an expression is true, or for as long as a gate may take to heal.
eventually() {
    local turn
    for turn in {1..90}; do
        host "${@:3}"
        if status=$status python3 "$root/Tests/Acceptance/answer.py" expect "$scratch" "$2" > /dev/null 2>&1; then break; fi
        sleep 1
    done
    expect "$1" "$2"
}
password 'right horse'
configure << JSON
{"state": "$scratch/state", "connectors": [{"name": "analytics", "plugin": "influxdb", "probe": "2s", "heal": {"initial": "200ms", "max": "2s"},
  "outbox": {"retry": {"initial": "200ms", "max": "2s"}}, "config":
  {"endpoint": "$server", "database": "shop", "username": "writer", "password": {"secret": "file:$scratch/password"}}}]}
JSON
start run "$CONNECTOR_HOST" run --config "$scratch/connectors.json"
eventually 'the gate is open' 'gate("analytics")["state"] == "open"' status
send 50
stop influxdb KILL
send 100
eventually 'without the server the gate is not open' 'gate("analytics")["state"] != "open"' status
start influxdb "$scratch/influxdb/usr/bin/influxd" -config "$scratch/influxdb.conf"
await influxdb "$server/ping"
for horse in second third; do
    administrate "SET PASSWORD FOR writer = '$horse horse'"
    send 100
    eventually "with another password it is not open" 'gate("analytics")["state"] != "open"' status
    password "$horse horse"
    eventually "with the new one in the file it opens by itself" 'gate("analytics")["state"] == "open"' status
    send 25
done
eventually 'nothing waits any more' 'all(box["queued"] == 0 and box["dead"] == 0 for box in answer["outboxes"])' outbox
stop run
query 'SELECT messageId FROM "Outage"'
ids='[row[1] for row in answer["results"][0]["series"][0]["values"]]'
expect "the server has every one of $sent events, and each once" \
    "sorted($ids) == sorted(f'outage-{number}' for number in range(1, $sent + 1))"

section "influxdb $INFLUXDB_VERSION: stopped"
stop influxdb
host status
expect 'the gate has failed: unavailable, with the cause' \
    'status == 1 and gate("analytics")["error"]["code"] == "unavailable" and gate("analytics")["error"]["cause"]'

section 'segment (simulator): the same calls'
simulate segment
configure << JSON
{"connectors": [{"name": "analytics", "plugin": "segment", "config": {"endpoint": "$simulated", "writeKey": "demo-write-key"}}]}
JSON
host status
expect 'the gate is open' 'status == 0 and gate("analytics")["state"] == "open"'
exercise_analytics
ask "$simulated/_received"
expect 'the vendor received the event' '"Order Completed" in text and "42.5" in text'

section 'posthog (simulator): the same calls'
simulate posthog
configure << JSON
{"connectors": [{"name": "analytics", "plugin": "posthog", "config": {"endpoint": "$simulated", "apiKey": "phc_demo"}}]}
JSON
host status
expect 'the gate is open' 'status == 0 and gate("analytics")["state"] == "open"'
exercise_analytics
ask "$simulated/_received"
expect 'the vendor received the event' '"Order Completed" in text and "42.5" in text'
