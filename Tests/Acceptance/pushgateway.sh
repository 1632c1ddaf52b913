#!/bin/bash
# This file is part of the connector-host project.
# SPDX-License-Identifier: Apache-2.0
#
# The adapter `pushgateway` with the Pushgateway of Debian, unpacked but not installed, with users and without.

source "$(dirname "$0")/harness.sh"
source "$(dirname "$0")/analytics.sh"

unpack prometheus-pushgateway
gateway=$scratch/prometheus-pushgateway/usr/bin/prometheus-pushgateway
PUSHGATEWAY_VERSION=$("$gateway" --version 2>&1 | awk '{ print $3; exit }' | tr -d ,)
port=$(free_port)
server=http://127.0.0.1:$port
virtual_environment bcrypt==4.3.0
digest=$("$scratch/python/bin/python" -c 'import bcrypt; print(bcrypt.hashpw(b"right horse", bcrypt.gensalt(4)).decode())')
printf 'basic_auth_users:\n  ada: %s\n' "$digest" > "$scratch/web.yml"
serve() {
    start pushgateway "$gateway" --web.listen-address="127.0.0.1:$port" --web.config.file="$scratch/web.yml" \
        --persistence.file="$scratch/pushed"
    await pushgateway "$server/-/ready"
}
serve

pushgateway() {
    configure << JSON
{"connectors": [{"name": "analytics", "plugin": "pushgateway", "config":
  {"endpoint": "$server", "job": "shop one", "instance": "${2:-a}", "username": "ada", "password": "${1:-right horse}"}}]}
JSON
}
# The counters of an instance, by type and event.
counted() { ask --user 'ada:right horse' "$server/api/v1/metrics"; }
group='next(g for g in answer["data"] if g["labels"] == {"job": "shop one", "instance": "a"})'
counts="{(m[\"labels\"][\"type\"], m[\"labels\"][\"event\"]): m[\"value\"] for m in $group[\"events_total\"][\"metrics\"]}"

section "pushgateway $PUSHGATEWAY_VERSION: opening"
pushgateway
host status
expect 'the gate is open' 'status == 0 and gate("analytics")["state"] == "open"'
expect 'the evidence is authenticated' 'evidence("analytics")[-1] == "authenticated"'
counted
expect 'opening pushes nothing' 'answer["data"] == []'
pushgateway 'wrong horse'
host status
expect 'a wrong password is unauthorized' 'status == 1 and gate("analytics")["error"]["code"] == "unauthorized"'
expect 'and nowhere in the report' '"wrong horse" not in text'

section "pushgateway $PUSHGATEWAY_VERSION: events"
pushgateway
exercise_analytics
counted
expect 'every event is counted once, in processes one after the other' \
    "$counts == {('track', 'Order Completed'): '1', ('identify', ''): '1', ('screen', 'Cart'): '1', ('page', 'Home'): '1',
     ('group', ''): '1', ('alias', ''): '1', ('track', 'Searched, and = found'): '2'}"
expect 'as a counter' "$group[\"events_total\"][\"type\"] == \"COUNTER\""
call analytics track '{"event": "two \\ lines\n\"quoted\", a=b", "userId": "u1"}'
call analytics track '{"event": "two \\ lines\n\"quoted\", a=b", "userId": "u1"}'
expect 'a name with marks of the format' 'status == 0'
counted
expect 'is the same name again' "$counts[('track', 'two \\\\ lines\\n\"quoted\", a=b')] == '2'"
pushgateway 'right horse' b
call analytics track '{"event": "Order Completed", "userId": "u1"}'
counted
expect 'another instance counts for itself' "len(answer['data']) == 2 and $counts[('track', 'Order Completed')] == '1'"

section "pushgateway $PUSHGATEWAY_VERSION: a metric of another kind under the same name"
pushgateway 'right horse' a
for instance in a b; do
    curl --silent --fail --user 'ada:right horse' -X DELETE "$server/metrics/job/shop%20one/instance/$instance"
done
curl --silent --fail --user 'ada:right horse' --data-binary $'# TYPE events_total gauge\nevents_total 1\n' "$server/metrics/job/other"
call analytics track '{"event": "Order Completed", "userId": "u1"}'
expect 'what the gateway refuses is a conflict, in its words' 'status == 1 and code == "conflict" and "is not a " in text'
curl --silent --fail --user 'ada:right horse' -X DELETE "$server/metrics/job/other"
call analytics track '{"event": "Order Completed", "userId": "u1"}'
expect 'and is taken once the other metric is gone' 'status == 0'

section "pushgateway $PUSHGATEWAY_VERSION: stopped"
stop pushgateway
host status
expect 'the gate has failed: unavailable, with the cause' \
    'status == 1 and gate("analytics")["error"]["code"] == "unavailable" and gate("analytics")["error"]["cause"]'

section 'pushgateway (simulator): the same calls'
simulate pushgateway
configure << JSON
{"connectors": [{"name": "analytics", "plugin": "pushgateway", "config":
  {"endpoint": "$simulated", "job": "shop one", "instance": "a", "username": "demo", "password": "demo-password"}}]}
JSON
host status
expect 'the gate is open' 'status == 0 and evidence("analytics")[-1] == "authenticated"'
exercise_analytics
ask --user demo:demo-password "$simulated/api/v1/metrics"
expect 'the simulator counted as the gateway did' \
    "$counts == {('track', 'Order Completed'): '1', ('identify', ''): '1', ('screen', 'Cart'): '1', ('page', 'Home'): '1',
     ('group', ''): '1', ('alias', ''): '1', ('track', 'Searched, and = found'): '2'}"
