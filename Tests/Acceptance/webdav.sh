#!/bin/bash
# This file is part of the connector-host project.
# SPDX-License-Identifier: Apache-2.0
#
# The adapter `webdav` with WsgiDAV from PyPI, which keeps its files in a directory; then with rclone from Debian, unpacked but not
# installed, which stands for the servers in Go.

source "$(dirname "$0")/harness.sh"
source "$(dirname "$0")/files.sh"
WSGIDAV_VERSION=${WSGIDAV_VERSION:-4.4.0}

virtual_environment "wsgidav==$WSGIDAV_VERSION" cheroot
# WsgiDAV decodes Destination before it looks for a query in it, and so moves a file with ? or ; in its name to another path.
request_server=$(echo "$scratch"/python/lib/python3*/site-packages/wsgidav/request_server.py)
sed -i 's/http_destination = unquote(environ\["HTTP_DESTINATION"\])/http_destination = environ["HTTP_DESTINATION"]/
    s/urlparse(http_destination, allow_fragments=False)/(lambda u: (*u[:2], unquote(u.path), "", "", ""))(urlsplit(http_destination, allow_fragments=False))/
    s/^from urllib.parse import .*/from urllib.parse import unquote, urlparse, urlsplit/' "$request_server"
port=$(free_port)
server=http://127.0.0.1:$port
mkdir -p "$scratch/served/files"
cat > "$scratch/wsgidav.yaml" << YAML
host: 127.0.0.1
port: $port
server: cheroot
provider_mapping: {"/": "$scratch/served"}
http_authenticator: {accept_basic: true, accept_digest: false, default_to_digest: false}
simple_dc: {user_mapping: {"*": {"alice": {"password": "right horse"}}}}
property_manager: true
verbose: 1
YAML
start wsgidav "$scratch/python/bin/wsgidav" --config "$scratch/wsgidav.yaml"
await wsgidav "$server/"

webdav() {
    connector "{\"name\": \"files\", \"plugin\": \"webdav\", \"retry\": {\"attempts\": 1}, \"config\":
      {\"endpoint\": \"$server/${2:-files}\", \"username\": \"alice\", \"password\": \"${1:-right horse}\"}}"
}

section "wsgidav $WSGIDAV_VERSION: opening"
webdav
host status
expect 'the gate is open' 'status == 0 and gate("files")["state"] == "open"'
expect 'the evidence is authenticated, and names the user' \
    'evidence("files")[-1] == "authenticated" and "alice" in gate("files")["evidence"][-1]["detail"]'
expect 'the password is nowhere in the report' '"right horse" not in text'
SERVED=$(find "$scratch/served" | wc -l) expect 'opening left nothing in the directory' 'var["SERVED"] == "2"'
webdav 'wrong horse'
host status
expect 'a wrong password is unauthorized' 'status == 1 and gate("files")["error"]["code"] == "unauthorized"'
expect 'the wrong password is nowhere in the report' '"wrong horse" not in text'
webdav 'right horse' nowhere
host status
expect 'a collection that is not there is missing' 'status == 1 and gate("files")["error"]["code"] == "missing"'

section "wsgidav $WSGIDAV_VERSION: files"
webdav
alice=(--silent --fail --output /dev/null --user 'alice:right horse')
curl "${alice[@]}" -X MKCOL "$server/files/reports"
curl "${alice[@]}" --upload-file - "$server/files/reports/2026.txt" <<< 'conten'
exercise_files
ask --user 'alice:right horse' "$server/files/reports/2026.txt"
expect 'the server itself has the file' 'text == "conten\n"'
conformance
SERVED=$(find "$scratch/served/files/.connector-uploads" -type f | wc -l) \
    expect 'no upload is left in the directory' 'var["SERVED"] == "0"'

section "wsgidav $WSGIDAV_VERSION: stopped"
stop wsgidav
host status
expect 'the gate has failed' 'status == 1 and gate("files")["state"] == "failed"'
expect 'unavailable, with the cause' \
    'gate("files")["error"]["code"] == "unavailable" and gate("files")["error"]["cause"]'

unpack rclone
RCLONE_VERSION=$("$scratch/rclone/usr/bin/rclone" version | awk 'NR == 1 { print $2 }')
port=$(free_port)
server=http://127.0.0.1:$port
mkdir -p "$scratch/mounted/files"
start rclone "$scratch/rclone/usr/bin/rclone" serve webdav "$scratch/mounted" --config /dev/null --addr "127.0.0.1:$port" \
    --user alice --pass 'right horse'
await rclone "$server/"

section "rclone $RCLONE_VERSION: files"
webdav
host status
expect 'the gate is open, its evidence authenticated' 'status == 0 and evidence("files")[-1] == "authenticated"'
curl "${alice[@]}" -X MKCOL "$server/files/reports"
curl "${alice[@]}" --upload-file - "$server/files/reports/2026.txt" <<< 'conten'
exercise_files
call files copy source=reports/2026.txt destination=reports/2026.txt/copy
expect 'nothing can be put below a file' 'status == 1 and code == "conflict"'
MOUNTED=$(find "$scratch/mounted/files/.connector-uploads" -type f | wc -l) \
    expect 'no upload is left in the directory' 'var["MOUNTED"] == "0"'

section 'webdav (simulator): the same calls'
simulate webdav
connector "{\"name\": \"files\", \"plugin\": \"webdav\", \"config\":
  {\"endpoint\": \"$simulated/files\", \"username\": \"demo\", \"password\": \"demo-password\"}}"
demo=(--silent --fail --output /dev/null --user demo:demo-password)
curl "${demo[@]}" -X MKCOL "$simulated/files/reports"
curl "${demo[@]}" --upload-file - "$simulated/files/reports/2026.txt" <<< 'conten'
exercise_files
