#!/bin/bash
# This file is part of the connector-host project.
# SPDX-License-Identifier: Apache-2.0
#
# The adapter `sentry` with Bugsink, a server for Sentry's protocol from PyPI, whose own API shows what it has; then the same
# calls with `bugsnag`.

source "$(dirname "$0")/harness.sh"
source "$(dirname "$0")/crash.sh"
BUGSINK_VERSION=${BUGSINK_VERSION:-2.6.1}

virtual_environment "bugsink==$BUGSINK_VERSION"
port=$(free_port)
server=http://127.0.0.1:$port
# Its databases and its configuration are made in the working directory.
mkdir "$scratch/bugsink"
cd "$scratch/bugsink"
export PYTHONPATH=$scratch/bugsink HOME=$scratch/bugsink
"$scratch/python/bin/bugsink-create-conf" --template local --host 127.0.0.1 --port "$port" -o bugsink_conf.py > /dev/null
echo 'BUGSINK["PHONEHOME"] = False' >> bugsink_conf.py
"$scratch/python/bin/bugsink-manage" migrate > "$scratch/migrate.log" 2>&1
"$scratch/python/bin/bugsink-manage" migrate snappea --database snappea >> "$scratch/migrate.log" 2>&1
token=$("$scratch/python/bin/bugsink-manage" create_auth_token 2>> "$scratch/migrate.log" | tail -n 1)
start bugsink "$scratch/python/bin/gunicorn" --bind "127.0.0.1:$port" --workers 1 --threads 4 bugsink.wsgi
await bugsink "$server/health/ready"

api() { ask --header "Authorization: Bearer $token" --header 'Content-Type: application/json' "$server/api/canonical/0/$@"; }

api teams/ -d '{"name": "Acceptance"}'
api projects/ -d "{\"name\": \"Shop\", \"team\": \"$(take 'answer["id"]')\"}"
project=$(take 'answer["id"]')
api "projects/$project/"
dsn=$(take 'answer["dsn"]')
key=${dsn#http://}
key=${key%@*}

sentry() {
    configure << JSON
{"connectors": [{"name": "crash", "plugin": "sentry", "config": {"dsn": "$1"}}]}
JSON
}

section "sentry with Bugsink $BUGSINK_VERSION: opening"
sentry "$dsn"
host status
expect 'the gate is open' 'status == 0 and gate("crash")["state"] == "open"'
expect 'the evidence is authenticated' 'evidence("crash")[-1] == "authenticated"'
api "issues/?project=$project"
expect 'opening leaves nothing in the list of the server' 'answer["results"] == []'
sentry "${dsn/$key/ffffffffffffffffffffffffffffffff}"
host status
expect 'a wrong key is unauthorized' \
    'status == 1 and gate("crash")["state"] == "failed" and gate("crash")["error"]["code"] == "unauthorized"'
sentry "${dsn%/*}/4711"
host status
expect 'a project that is not there fails, with the code and the cause' \
    'status == 1 and gate("crash")["error"]["code"] in ("unauthorized", "missing") and gate("crash")["error"]["cause"]'

section "sentry with Bugsink $BUGSINK_VERSION: reports"
sentry "$dsn"
exercise_crash
api "issues/?project=$project"
expect 'the exception is in the list of the server, once' \
    '[i["calculated_value"] for i in answer["results"] if i["calculated_type"] == "CheckoutError"] == ["Größe \"42\" is sold out"]'
expect 'so are the message and the batch' \
    'len(answer["results"]) == 4 and "The stock is low" in text and "FirstError" in text and "second" in text'
issue=$(take 'next(i["id"] for i in answer["results"] if i["calculated_type"] == "CheckoutError")')
api "events/?issue=$issue"
event=$(take 'answer["results"][0]["id"]')
export EVENT=${EXCEPTION_ID//-/}
expect "its id is the report's" 'answer["results"][0]["event_id"].replace("-", "") == var["EVENT"]'
api "events/$event/"
expect 'the cause stands before what it caused' \
    '[e["type"] for e in answer["data"]["exception"]["values"]] == ["StockError", "CheckoutError"]'
expect 'the frames are those of the report, the oldest first' \
    '[(f["function"], f["lineno"]) for f in answer["data"]["exception"]["values"][1]["stacktrace"]["frames"]] == [("main()", 3), ("checkout()", 42)]'
expect 'level, release, environment, tags and user too' \
    '(lambda d: (d["level"], d["release"], d["environment"], d["tags"]["area"], d["user"]["email"]) == ("fatal", "shop@1.2.3", "acceptance", "checkout", "ada@example.com"))(answer["data"])'
expect 'and breadcrumbs and context' \
    'answer["data"]["breadcrumbs"]["values"][0]["message"] == "opened the cart" and answer["data"]["contexts"]["order"] == {"number": 17} and answer["data"]["extra"]["attempt"] == 2'
expect 'the stack is shown' '"Checkout.swift" in answer["stacktrace_md"] and "checkout()" in answer["stacktrace_md"]'

section "sentry with Bugsink $BUGSINK_VERSION: stopped"
stop bugsink
host status
expect 'the gate has failed: unavailable, with the cause' \
    'status == 1 and gate("crash")["error"]["code"] == "unavailable" and gate("crash")["error"]["cause"]'
call crash message '{"message": "lost"}'
expect 'a call says so too' 'status == 1 and code in ("not-open", "unavailable")'

section 'bugsnag (simulator): the same calls'
simulate bugsnag
configure << JSON
{"connectors": [{"name": "crash", "plugin": "bugsnag", "config":
  {"endpoint": "$simulated", "apiKey": "0123456789abcdef0123456789abcdef"}}]}
JSON
host status
expect 'the gate is open' 'status == 0 and gate("crash")["state"] == "open"'
exercise_crash
ask "$simulated/_received"
expect 'the vendor received the exception' '"CheckoutError" in text and "StockError" in text'
