#!/bin/bash
# This file is part of the connector-host project.
# SPDX-License-Identifier: Apache-2.0
#
# The other way round: the vendors' own clients from PyPI, and other clients in use, against the simulators. What
# each does is in clients.py. Where it finds the module brotli, sentry-sdk compresses with it.

source "$(dirname "$0")/harness.sh"

debian_packages libbrotli1
virtual_environment sentry-sdk==2.75.0 bugsnag==4.9.2 segment-analytics-python==2.4.0 posthog==7.91.1 kinto-http==11.11.0 \
    googlemaps==4.10.0 opencage==3.4.0 geopy==2.5.0 influxdb==5.3.2 amplitude-analytics==1.3.0 mixpanel==5.4.1 rollbar==1.5.0 \
    ga4mp==2.0.4 matomopy==0.1.0 postgrest==2.34.1 aiomixpanel==1.1.0 brotli==1.2.1 boto3==1.44.8 \
    setuptools
port=$(free_port)
start simulator "$CONNECTOR_HOST" simulate --port "$port"
await simulator "http://127.0.0.1:$port/_received"
status=0
for client in sentry-sdk bugsnag rollbar segment-analytics-python posthog amplitude-analytics mixpanel aiomixpanel ga4mp matomopy influxdb \
    kinto-http postgrest boto3 googlemaps opencage geopy-nominatim geopy-photon; do
    echo
    echo "$client"
    curl --silent --output /dev/null -X DELETE "http://127.0.0.1:$port/_received"
    "$scratch/python/bin/python" "$root/Tests/Acceptance/clients.py" "$client" "http://127.0.0.1:$port" \
        > "$scratch/answer" 2> "$scratch/messages" || true
    expect 'the client does its work' 'answer["done"] is True'
    ask "http://127.0.0.1:$port/_received"
    # Some must be refused: an old version, a missing record, several rows where one is wanted, a wrong key.
    export REFUSED=$(case $client in kinto-http) echo '412 404' ;; opencage) echo 401 ;; postgrest) echo '406 404 401' ;;
        boto3) echo '501 412 409' ;; esac)
    expect 'the simulator received it, and refused nothing else than it should' \
        'answer["requests"] and {str(r["status"]) for r in answer["requests"] if r["status"] >= 400} <= set(var["REFUSED"].split())'
done
