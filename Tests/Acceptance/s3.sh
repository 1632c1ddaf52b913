#!/bin/bash
# This file is part of the connector-host project.
# SPDX-License-Identifier: Apache-2.0
#
# The adapter `s3` with moto from PyPI, which keeps its objects in memory, and does not look at signatures; then with the simulator,
# which does, as curl signs its own requests to it.

source "$(dirname "$0")/harness.sh"
source "$(dirname "$0")/files.sh"
MOTO_VERSION=${MOTO_VERSION:-5.2.5}

virtual_environment "moto[s3,server]==$MOTO_VERSION"
port=$(free_port)
server=http://127.0.0.1:$port
# moto_server answers on several threads, and fails where one replaces an object that another reads.
cat > "$scratch/serve.py" << PYTHON
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import run_simple
run_simple("127.0.0.1", $port, DomainDispatcherApplication(create_backend_app), threaded=False)
PYTHON
start moto "$scratch/python/bin/python" "$scratch/serve.py"
await moto "$server/"
curl --silent --fail --output /dev/null -X PUT "$server/shop"

s3() {
    connector "{\"name\": \"files\", \"plugin\": \"s3\", \"retry\": {\"attempts\": 1}, \"config\":
      {\"endpoint\": \"$server\", \"bucket\": \"${1:-shop}\", \"accessKey\": \"key of alice\", \"secretKey\": \"right horse\"}}"
}

section "moto $MOTO_VERSION: opening"
s3
host status
expect 'the gate is open' 'status == 0 and gate("files")["state"] == "open"'
expect 'moto lists for anybody, so the evidence is no more than reachable' 'evidence("files") == ["reachable"]'
expect 'the keys are nowhere in the report' '"right horse" not in text and "key of alice" not in text'
ask "$server/shop?list-type=2"
expect 'opening left nothing in the bucket' '"<KeyCount>0</KeyCount>" in text'
s3 nowhere
host status
expect 'a bucket that is not there is missing' 'status == 1 and gate("files")["error"]["code"] == "missing"'

section "moto $MOTO_VERSION: files"
s3
curl --silent --fail --output /dev/null --header 'Content-Type: text/plain' -X PUT --data-binary @- "$server/shop/reports/2026.txt" <<< 'conten'
ask --aws-sigv4 aws:amz:us-east-1:s3 --user "key of alice:right horse" "$server/shop/reports/2026.txt"
expect 'the server itself has the file' 'text == "conten\n"'
exercise_files
conformance

section "moto $MOTO_VERSION: stopped"
stop moto
host status
expect 'the gate has failed' 'status == 1 and gate("files")["state"] == "failed"'
expect 'unavailable, with the cause' \
    'gate("files")["error"]["code"] == "unavailable" and gate("files")["error"]["cause"]'

section 's3 (simulator): the same calls'
simulate s3
connector "{\"name\": \"files\", \"plugin\": \"s3\", \"config\":
  {\"endpoint\": \"$simulated\", \"bucket\": \"demo\", \"accessKey\": \"demo-access-key\", \"secretKey\": \"demo-secret-key\"}}"
status=0
curl --silent --fail --output /dev/null --aws-sigv4 aws:amz:us-east-1:s3 --user demo-access-key:demo-secret-key \
    --header "x-amz-content-sha256: $(sha256sum <<< 'conten' | cut -d ' ' -f 1)" \
    -X PUT --data-binary @- "$simulated/demo/reports/2026.txt" <<< 'conten' 2> "$scratch/messages" || status=$?
expect "the simulator takes curl's signature" 'status == 0'
exercise_files
