#!/bin/bash
# This file is part of the connector-host project.
# SPDX-License-Identifier: Apache-2.0
#
# The adapter `clickhouse` with the ClickHouse server of Debian, unpacked but not installed. It dates from 2018, and knows neither
# insert tokens nor times finer than seconds; the simulator stands in for newer servers.

source "$(dirname "$0")/harness.sh"
source "$(dirname "$0")/analytics.sh"

# The server, and the libraries that it needs and that few machines have.
for package in clickhouse-server clickhouse-common libboost-filesystem1.74.0 libboost-program-options1.74.0 \
    libcapnp-0.9.2 libcctz2 libcpuinfo0 libdouble-conversion3 libfarmhash0 libjemalloc2 libltdl7 liblz4-1 libmariadb3 \
    libmetrohash1 libodbc2 libpcre3 libpococrypto80 libpocodata80 libpocodataodbc80 libpocofoundation80 libpocojson80 \
    libpocomongodb80 libpoconet80 libpoconetssl80 libpocoutil80 libpocoxml80 librdkafka1 libre2-9; do
    unpack "$package"
done
libraries=$(printf '%s:' "$scratch"/*/usr/lib/x86_64-linux-gnu "$scratch"/*/lib/x86_64-linux-gnu)
CLICKHOUSE_VERSION=$(dpkg-deb --field "$scratch"/packages/clickhouse-server_*.deb Version)
port=$(free_port)
server=http://127.0.0.1:$port
cat > "$scratch/config.xml" << XML
<yandex>
  <logger><level>warning</level><console>1</console></logger>
  <listen_host>127.0.0.1</listen_host><http_port>$port</http_port>
  <path>$scratch/data/</path><tmp_path>$scratch/data/tmp/</tmp_path>
  <users_config>users.xml</users_config><default_profile>default</default_profile><default_database>default</default_database>
  <mark_cache_size>1048576</mark_cache_size>
</yandex>
XML
user() { echo "<$1><password>right horse</password><networks><ip>127.0.0.1</ip></networks><profile>$2</profile><quota>default</quota></$1>"; }
cat > "$scratch/users.xml" << XML
<yandex><profiles><default/><reader><readonly>1</readonly></reader></profiles><quotas><default/></quotas>
<users>$(user ada default)$(user guest reader)</users></yandex>
XML
start clickhouse env LD_LIBRARY_PATH="$libraries" "$scratch/clickhouse-server/usr/sbin/clickhouse-server" \
    --config-file="$scratch/config.xml"
await clickhouse "$server/ping"

# Asks the server itself.
sql() { ask --header 'X-ClickHouse-User: ada' --header 'X-ClickHouse-Key: right horse' "$server/" --data-binary "$1"; }
sql 'CREATE TABLE `shop events` (message_id String, timestamp DateTime, type String, event String, name String,
    user_id String, properties String, traits String) ENGINE = MergeTree ORDER BY timestamp'

clickhouse() {
    configure << JSON
{"connectors": [{"name": "analytics", "plugin": "clickhouse", "retry": {"attempts": 1}, "config":
  {"endpoint": "$server", "table": "${2:-shop events}", "username": "${3:-ada}", "password": "${1:-right horse}"}}]}
JSON
}

section "clickhouse $CLICKHOUSE_VERSION: opening"
clickhouse
host status
expect 'the gate is open' 'status == 0 and gate("analytics")["state"] == "open"'
expect 'the evidence is authenticated, and says that the server is too old to recognize a repeated insert' \
    'evidence("analytics")[-1] == "authenticated" and "too old" in gate("analytics")["evidence"][0]["detail"]'
sql 'SELECT count() FROM `shop events` FORMAT JSON'
expect 'opening writes nothing' 'answer["data"][0]["count()"] == "0"'
clickhouse 'wrong horse'
host status
expect 'a wrong password is unauthorized' 'status == 1 and gate("analytics")["error"]["code"] == "unauthorized"'
expect 'and nowhere in the report' '"wrong horse" not in text'
clickhouse 'right horse' nowhere
host status
expect 'a table that is not there is missing' 'status == 1 and gate("analytics")["error"]["code"] == "missing"'

section "clickhouse $CLICKHOUSE_VERSION: events"
clickhouse
exercise_analytics
sql 'SELECT * FROM `shop events` FORMAT JSON'
expect 'every event is a row' \
    '[("alias", ""), ("group", ""), ("identify", ""), ("page", ""), ("screen", ""), ("track", "Order Completed"),
      ("track", "Searched, and = found"), ("track", "Searched, and = found")] == sorted((row["type"], row["event"]) for row in answer["data"])'
expect 'with its time' '"2026-03-01 12:00:00" == next(row for row in answer["data"] if row["message_id"] == "m-1")["timestamp"]'
expect 'and its properties as they were' \
    '"two \\ lines\n\"quoted\", a=b" == json.loads(next(row for row in answer["data"] if row["message_id"] == "m-1")["properties"])["note"]'
sql "SELECT visitParamExtractFloat(properties, 'total') AS total FROM \`shop events\` WHERE message_id = 'm-1' FORMAT JSON"
expect 'which the server itself can read' 'answer["data"][0]["total"] == 42.5'
sql 'CREATE TABLE narrow (user_id UInt8, type String) ENGINE = MergeTree ORDER BY user_id'
clickhouse 'right horse' narrow
call analytics deliver '[{"type": "track", "event": "A", "userId": "7"}, {"type": "track", "event": "A", "userId": "seven"},
    {"type": "track", "event": "A", "userId": "9"}]'
expect 'a row that the table does not take is rejected, and the others are there' \
    'status == 0 and [answer["outcome"] for answer in result] == ["accepted", "rejected", "accepted"]'
sql 'SELECT user_id FROM narrow ORDER BY user_id FORMAT JSON'
expect 'once' '[row["user_id"] for row in answer["data"]] == [7, 9]'
clickhouse 'right horse' 'shop events' guest
call analytics track '{"event": "A", "userId": "u1"}'
expect 'a user who may not write is unauthorized' 'status == 1 and code in ("unauthorized", "not-open")'

section "clickhouse $CLICKHOUSE_VERSION: stopped"
clickhouse
stop clickhouse
host status
expect 'the gate has failed: unavailable, with the cause' \
    'status == 1 and gate("analytics")["error"]["code"] == "unavailable" and gate("analytics")["error"]["cause"]'

section 'clickhouse (simulator): the same calls'
simulate clickhouse
configure << JSON
{"connectors": [{"name": "analytics", "plugin": "clickhouse", "config":
  {"endpoint": "$simulated", "table": "events", "password": "demo-password"}}]}
JSON
host status
expect 'the gate is open' 'status == 0 and evidence("analytics")[-1] == "authenticated" and "too old" not in text'
exercise_analytics
ask --header 'X-ClickHouse-Key: demo-password' "$simulated/?query=SELECT%20*%20FROM%20events"
expect 'the simulator has the event' '"Order Completed" in text'
