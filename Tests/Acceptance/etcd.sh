#!/bin/bash
# This file is part of the connector-host project.
# SPDX-License-Identifier: Apache-2.0
#
# The adapter `etcd` with an etcd server from Debian, without users and with them.

source "$(dirname "$0")/harness.sh"
debian_packages etcd-server etcd-client
port=$(free_port)
peer=$(free_port)
server=http://127.0.0.1:$port
serve() {
    start etcd etcd --data-dir "$scratch/etcd" --listen-client-urls "$server" --advertise-client-urls "$server" \
        --listen-peer-urls "http://127.0.0.1:$peer" --initial-advertise-peer-urls "http://127.0.0.1:$peer" \
        --initial-cluster "default=http://127.0.0.1:$peer"
    await etcd "$server/health"
}
client() { etcdctl --endpoints "$server" "$@" > /dev/null; }
export ETCDCTL_API=3
serve

settings() {
    configure << JSON
{"connectors": [{"name": "settings", "plugin": "etcd", "retry": {"attempts": 1}, "config":
  {"endpoint": "$server", "prefix": "shop/", "defaults": {"size": 10}${1:-}}}]}
JSON
}

section 'etcd: settings'
settings
host status
expect 'the gate is open' 'status == 0 and gate("settings")["state"] == "open"'
expect 'the evidence is reachable' 'evidence("settings")[-1] == "reachable"'
call settings set theme '"dark"'
expect 'a setting is stored' 'status == 0'
[ "$(etcdctl --endpoints "$server" get --print-value-only shop/theme)" = '"dark"' ] && stored=1 || stored=0
STORED=$stored expect 'etcd itself has it as JSON' 'var["STORED"] == "1"'
client put shop/mode 'plain words'
call settings list
expect 'what another client stored is there, and the default' \
    'result == {"mode": "plain words", "size": 10, "theme": "dark"}'
call settings set size '"large"'
expect 'a value of another type than its default is refused' 'status == 1 and code == "invalid"'
call settings remove theme
expect 'a setting is removed' 'status == 0'

section 'etcd: what others change'
start watch "$CONNECTOR_HOST" watch --config "$scratch/connectors.json" --json settings
# A change that is made before the watch begins is not reported, so it is repeated until one is.
for attempt in {1..60}; do
    client put shop/size "$attempt"
    grep --quiet settings-changed "$scratch/watch.log" && break
    kill -0 "${servers[watch]}"
    sleep 1
done
TOLD=$(grep --max-count 1 settings-changed "$scratch/watch.log" || true) \
    expect 'is an event' '"size" in var["TOLD"] and "settings-changed" in var["TOLD"]'
stop watch

section 'etcd: users'
client user add root:right
client user grant-role root root
client auth enable
host status
expect 'without a user the gate fails' 'status == 1 and gate("settings")["state"] == "failed"'
settings ', "username": "root", "password": "right"'
host status
expect 'with one it is open, and the evidence says so' \
    'status == 0 and evidence("settings")[-1] == "authenticated"'
expect 'the password is nowhere in the report' '"right" not in text'
settings ', "username": "root", "password": "wrong"'
host status
expect 'a wrong password is said' 'status == 1 and "authentication failed" in gate("settings")["error"]["message"]'

section 'etcd: stopped'
stop etcd
host status
expect 'the gate has failed, unavailable' \
    'status == 1 and gate("settings")["error"]["code"] == "unavailable"'
