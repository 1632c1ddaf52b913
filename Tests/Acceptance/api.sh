#!/bin/bash
# This file is part of the connector-host project.
# SPDX-License-Identifier: Apache-2.0
#
# The API of a running host: schemathesis, from PyPI, makes requests from its OpenAPI description, valid and invalid ones, and
# compares the answers with it. The host runs in a directory of its own, against a simulator of this program; with --simulate it would
# serve the socket control-simulated instead. The streams are left out, since they do not end by themselves.
#
#   CONNECTOR_API_EXAMPLES   how many requests for each operation; 100 by default
#   CONNECTOR_API_SEED       the seed of the requests, to repeat them

source "$(dirname "$0")/harness.sh"

virtual_environment schemathesis==4.32.5
make --no-print-directory -s -C "$root/Tests/Fixtures"
simulate segment
configure <<END
{
  "state": "state",
  "connectors": [
    { "name": "math", "plugin": "$root/Tests/Fixtures/build/plugins/libsync.so" },
    { "name": "analytics", "policy": "all", "connectors": [
      { "name": "segment", "plugin": "segment", "probe": "off",
        "config": { "endpoint": "$simulated", "writeKey": "demo-write-key" } } ] }
  ]
}
END
cd "$scratch"
export API_EVENT=$("$CONNECTOR_HOST" send analytics track event=Seen userId=u1)
start host "$CONNECTOR_HOST" run
port=$(free_port)
start forward python3 "$root/Tests/Acceptance/forward.py" "$port" "$scratch/state/control"
await host "http://127.0.0.1:$port/livez"

section 'requests made from the description'
seed=${CONNECTOR_API_SEED:-$(date +%s)}
echo "CONNECTOR_API_SEED=$seed"
status=0
PYTHONPATH=$root/Tests/Acceptance SCHEMATHESIS_HOOKS=api_hooks "$scratch/python/bin/schemathesis" \
    --config-file "$root/Tests/Acceptance/schemathesis.toml" run "http://127.0.0.1:$port/api/v1/openapi.json" \
    --exclude-path /api/v1/events --seed "$seed" --request-timeout 40 --max-examples "${CONNECTOR_API_EXAMPLES:-100}" \
    --workers 2 --phases examples,coverage,fuzzing || status=$?
echo "{\"status\": $status}" > "$scratch/answer"
: > "$scratch/messages"
expect 'schemathesis finds nothing' 'answer["status"] == 0'

section 'afterwards'
ask "http://127.0.0.1:$port/api/v1/host"
expect 'the host still answers' 'answer["version"] == 1'
