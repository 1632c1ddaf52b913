# This file is part of the connector-host project.
# SPDX-License-Identifier: Apache-2.0
#
# What an application does with files, whatever their vendor. Beforehand, the file reports/2026.txt, of seven bytes, is put
# there without the adapter; afterwards it is still there.

# Configures one connector, whose JSON is kept for `conformance`.
connector() {
    files_connector=$1
    configure <<< "{\"connectors\": [$1]}"
}

exercise_files() {
    call files head path=reports/2026.txt
    expect 'a file that another program put is there' 'status == 0 and result["size"] == 7 and result["tag"]'
    expect 'without a digest, which nobody computed' '"digest" not in result'
    call files get path=reports/2026.txt offset=0 count=100
    expect 'and is read' 'status == 0'
    call files list prefix=reports/
    expect 'and listed' '[file["path"] for file in result["files"]] == ["reports/2026.txt"] and not result.get("hasMore")'
    call files copy source=reports/2026.txt 'destination=archive/é +%20/2026.txt'
    expect 'a copy has the same size' 'status == 0 and result["size"] == 7'
    call files list limit=1
    expect 'a page of one has the first, in order' \
        '[file["path"] for file in result["files"]] == ["archive/é +%20/2026.txt"] and result["hasMore"]'
    call files list after='archive/é +%20/2026.txt'
    expect 'the next one goes on' '[file["path"] for file in result["files"]] == ["reports/2026.txt"]'
    call files copy source=reports/2025.txt destination=archive/2025.txt
    expect 'what is not there cannot be copied' 'status == 1 and code == "missing"'
    call files remove 'path=archive/é +%20/2026.txt'
    expect 'a file is removed' 'status == 0'
    call files remove 'path=archive/é +%20/2026.txt'
    expect 'a second time it is not an error' 'status == 0'
    call files head 'path=archive/é +%20/2026.txt'
    expect 'and is missing then' 'status == 1 and code == "missing"'
    call files head path=reports
    expect 'what lies above a file is not a file' 'status == 1 and code == "missing"'
    call files head path=reports/../2026.txt
    expect 'a path that leads elsewhere is invalid' 'status == 1 and code == "invalid"'
}

# Runs the suite of the capability, which also puts files: that needs one host for several calls.
conformance() {
    status=0
    CONNECTOR_FILES_SERVER=$files_connector "$root/scripts/run-tests" \
        "$root/.build/debug/connector-hostPackageTests.xctest" --testing-library swift-testing --no-parallel \
        --filter RemoteFilesTests > "$scratch/answer" 2>&1 || status=$?
    : > "$scratch/messages"
    expect 'the adapter keeps the contract of files/1' \
        'status == 0 and any("real server" in line and "passed" in line for line in text.splitlines())'
}
