#!/bin/bash
# This file is part of the connector-host project.
# SPDX-License-Identifier: Apache-2.0
#
# The adapter `bugsnag` with Bugsnag's own forwarding agent from PyPI. No available server keeps what Bugsnag's
# notifiers send: the agent takes reports without looking at them, and forwards some of their headers and the unchanged body,
# here to the simulator. This shows that reports survive the way through the vendor's agent, and that the adapter claims
# nothing that such an agent does not prove.

source "$(dirname "$0")/harness.sh"
source "$(dirname "$0")/crash.sh"
AGENT_VERSION=${AGENT_VERSION:-1.3.0}

virtual_environment "bugsnag-agent==$AGENT_VERSION"
simulate bugsnag
port=$(free_port)
start agent "$scratch/python/bin/bugsnag-agent" --config /dev/null --ip 127.0.0.1 --port "$port" --endpoint "$simulated/"
await agent "http://127.0.0.1:$port/"
configure << JSON
{"connectors": [{"name": "crash", "plugin": "bugsnag", "config":
  {"endpoint": "http://127.0.0.1:$port", "apiKey": "0123456789abcdef0123456789abcdef"}}]}
JSON

section "bugsnag-agent $AGENT_VERSION"
host status
expect 'the gate is open' 'status == 0 and gate("crash")["state"] == "open"'
expect 'the evidence is reachable: the agent looks at no key' 'evidence("crash") == ["reachable"]'
exercise_crash
# The agent forwards later.
for second in {1..20}; do
    ask "$simulated/_received"
    [ "$(take 'sum(r["body"].count("errorClass") for r in answer["requests"] if r["method"] == "POST")')" -ge 5 ] && break
    sleep 1
done
expect 'everything arrives behind the agent' \
    'all(word in text for word in ("CheckoutError", "StockError", "The stock is low", "FirstError", "second"))'
expect 'and is accepted there' 'all(r["status"] == 200 for r in answer["requests"] if "errorClass" in r.get("body", ""))'

section "bugsnag-agent $AGENT_VERSION: stopped"
stop agent
host status
expect 'the gate has failed: unavailable, with the cause' \
    'status == 1 and gate("crash")["error"]["code"] == "unavailable" and gate("crash")["error"]["cause"]'
