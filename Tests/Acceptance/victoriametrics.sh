#!/bin/bash
# This file is part of the connector-host project.
# SPDX-License-Identifier: Apache-2.0
#
# The adapter `victoriametrics` with VictoriaMetrics of Debian, unpacked but not installed.

source "$(dirname "$0")/harness.sh"
source "$(dirname "$0")/analytics.sh"

unpack victoria-metrics
database=$scratch/victoria-metrics/usr/bin/victoria-metrics
VICTORIAMETRICS_VERSION=$(dpkg-deb --field "$scratch"/packages/victoria-metrics_*.deb Version)
port=$(free_port)
server=http://127.0.0.1:$port
start victoriametrics "$database" -httpListenAddr="127.0.0.1:$port" -storageDataPath="$scratch/series" \
    -httpAuth.username=ada -httpAuth.password='right horse' -retentionPeriod=100y
await victoriametrics "$server/health"

victoriametrics() {
    configure << JSON
{"connectors": [{"name": "analytics", "plugin": "victoriametrics", "config":
  {"endpoint": "$server", "job": "shop", "username": "ada", "password": "${1:-right horse}"}}]}
JSON
}
# The samples of a metric. What was imported can be queried once it is flushed.
exported() {
    curl --silent --output /dev/null --user 'ada:right horse' "$server/internal/force_flush"
    curl --silent --user 'ada:right horse' --get "$server/api/v1/export" --data-urlencode "match[]=$1" \
        | python3 -c 'import json, sys; json.dump([json.loads(line) for line in sys.stdin], sys.stdout)' > "$scratch/answer"
}

section "victoriametrics $VICTORIAMETRICS_VERSION: opening"
victoriametrics
host status
expect 'the gate is open' 'status == 0 and gate("analytics")["state"] == "open"'
expect 'the evidence is authenticated' 'evidence("analytics")[-1] == "authenticated"'
exported '{__name__!=""}'
expect 'opening writes nothing' 'answer == []'
victoriametrics 'wrong horse'
host status
expect 'a wrong password is unauthorized' 'status == 1 and gate("analytics")["error"]["code"] == "unauthorized"'
expect 'and nowhere in the report' '"wrong horse" not in text'

section "victoriametrics $VICTORIAMETRICS_VERSION: events"
victoriametrics
exercise_analytics
exported 'event_count'
expect 'every event is a sample of its series' \
    '[("page", "Home", 1), ("screen", "Cart", 1), ("track", "Order Completed", 1), ("track", "Searched, and = found", 2)] == sorted(
     (s["metric"]["type"], s["metric"]["event"], sum(s["values"])) for s in answer if "event" in s["metric"])'
expect 'also if it has no name' '{"alias", "group", "identify"} == {s["metric"]["type"] for s in answer if "event" not in s["metric"]}'
expect 'all have the job' 'all(s["metric"]["job"] == "shop" for s in answer)'
expect 'the time is exact to the millisecond' \
    'next(s for s in answer if s["metric"].get("event") == "Order Completed")["timestamps"] == [1772366400123]'
exported 'event_value{event="Order Completed"}'
expect 'so is every number in it' '{s["metric"]["property"]: s["values"] for s in answer} == {"total": [42.5], "items": [3]}'
ask --user 'ada:right horse' --get "$server/api/v1/query" --data-urlencode 'time=1772366460' \
    --data-urlencode 'query=sum_over_time(event_value{property="total"}[5m])'
expect 'which a query adds up' 'answer["data"]["result"][0]["value"][1] == "42.5"'
call analytics track '{"event": "Later", "userId": "u1", "timestamp": "2400-01-01T00:00:00Z"}'
expect 'an event that the server would ignore is invalid' 'status == 1 and code == "invalid" and "future" in text'

section "victoriametrics $VICTORIAMETRICS_VERSION: stopped"
stop victoriametrics
host status
expect 'the gate has failed: unavailable, with the cause' \
    'status == 1 and gate("analytics")["error"]["code"] == "unavailable" and gate("analytics")["error"]["cause"]'

section 'victoriametrics (simulator): the same calls'
simulate victoriametrics
configure << JSON
{"connectors": [{"name": "analytics", "plugin": "victoriametrics", "config":
  {"endpoint": "$simulated", "job": "shop", "username": "demo", "password": "demo-password"}}]}
JSON
host status
expect 'the gate is open' 'status == 0 and evidence("analytics")[-1] == "authenticated"'
exercise_analytics
ask --user demo:demo-password --get "$simulated/api/v1/export" --data-urlencode 'match[]=event_value'
expect 'the simulator has the number' '"42.5" in text'
