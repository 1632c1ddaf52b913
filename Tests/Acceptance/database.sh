# This file is part of the connector-host project.
# SPDX-License-Identifier: Apache-2.0
#
# What an application does with a database, whatever its vendor. Leaves the record `kept`, and its version
# in $kept. IDS=server: the vendor chooses all ids. TABLES=typed: collections are tables, whose columns have types, and whose
# rows have no versions.

exercise_database() {
    call database create notes '{"title": "Milk", "count": 2, "done": false}'
    expect 'a record is created, with an id and a version if there are any' \
        'status == 0 and result["id"] and ("version" in result) == ("TABLES" not in var) and result["data"]["title"] == "Milk"'
    local id
    id=$(take 'result["id"]')
    call database get notes "$id"
    expect 'and read back' 'result["data"] == {"title": "Milk", "count": 2, "done": False}'
    call database get "id=$id" collection=notes
    expect 'also with arguments by name' 'result["data"] == {"title": "Milk", "count": 2, "done": False}'
    call database update notes "$id" '{"count": 3}'
    expect 'an update merges' 'status == 0'
    call database get notes "$id"
    expect 'and is read back' 'result["data"] == {"title": "Milk", "count": 3, "done": False}'
    call database replace notes "$id" '{"title": "Oats"}'
    expect 'a replacement goes through' 'status == 0'
    call database get notes "$id"
    expect 'and leaves nothing of the old record' 'result["data"] == {"title": "Oats"}'
    call database delete notes "$id"
    expect 'a record is deleted' 'status == 0'
    call database get notes "$id"
    expect 'and is missing then' 'status == 1 and code == "missing"'
    call database update notes "$id" '{"count": 3}'
    expect 'for an update too' 'status == 1 and code == "missing"'
    call database replace notes "$id" '{"title": "Oats"}'
    expect 'a replacement does not bring it back' 'status == 1 and code == "missing"'
    call database delete notes "$id"
    expect 'nor can it be deleted again' 'status == 1 and code == "missing"'

    local number
    for number in 1 2 3 4 5; do
        call database create numbers "{\"number\": $number, \"parity\": \"$([ $((number % 2)) = 0 ] && echo even || echo odd)\", \"text\": \"$number\"}"
    done
    call database query numbers '{"where": {"parity": "odd"}, "sort": ["-number"]}'
    expect 'a query by equality, sorted' '[record["data"]["number"] for record in result["records"]] == [5, 3, 1]'
    call database query numbers '{"where": {"number": {"gt": 1, "le": 4}}, "sort": ["number"]}'
    expect 'by range' '[record["data"]["number"] for record in result["records"]] == [2, 3, 4]'
    call database query numbers '{"where": {"number": {"in": [2, 5, 9]}}, "sort": ["number"]}'
    expect 'by a list' '[record["data"]["number"] for record in result["records"]] == [2, 5]'
    call database query numbers '{"where": {"parity": {"ne": "odd"}}, "sort": ["number"]}'
    expect 'by inequality' '[record["data"]["number"] for record in result["records"]] == [2, 4]'
    call database query numbers '{"where": {"text": "3"}}'
    expect 'a text that looks like a number is a text' '[record["data"]["number"] for record in result["records"]] == [3]'
    if [ -z "${TABLES:-}" ]; then
        call database query numbers '{"where": {"text": 3}}'
        expect 'and no number' 'status == 0 and result["records"] == []'
    fi
    call database query numbers '{"sort": ["number"], "limit": 2}'
    expect 'a page of two' '[record["data"]["number"] for record in result["records"]] == [1, 2] and result["cursor"]'
    local seen=2 cursor
    while cursor=$(take 'result["cursor"]') && [ -n "$cursor" ] && [ "$seen" -lt 20 ]; do
        call database query numbers "{\"sort\": [\"number\"], \"limit\": 2, \"cursor\": \"$cursor\"}"
        seen=$((seen + $(take 'len(result["records"])')))
    done
    SEEN=$seen expect 'the cursor leads to all five' 'var["SEEN"] == "5"'
    call database query empty '{"where": {"number": 1}}'
    expect 'a collection without records has none' 'status == 0 and result["records"] == []'
    call database query numbers '{"where": {"number": {"greater": 1}}}'
    expect 'an unknown comparison is invalid' 'status == 1 and code == "invalid"'

    call database create notes '{"title": "Größe 📏 \"quoted\" \\ / \u0007"}'
    expect 'text comes back as it was' 'result["data"]["title"] == "Größe 📏 \"quoted\" \\ / \u0007"'
    call database create notes '["no", "object"]'
    expect 'a record that is no object is invalid' 'status == 1 and code == "invalid"'
    if [ "${IDS:-chosen}" = chosen ]; then
        call database create notes '{"title": "Kept", "tags": ["a", "b"]}' id=kept
        expect 'a record is created with an id' 'status == 0 and result["id"] == "kept"'
        kept=$(take 'result["version"]')
        call database create notes '{"title": "Again"}' id=kept
        expect 'a second time it is a conflict' 'status == 1 and code == "conflict"'
    else
        call database create notes '{"title": "Kept"}' id=kept
        expect 'an id of the application is unsupported, and said to be' 'status == 1 and code == "unsupported"'
    fi
}
