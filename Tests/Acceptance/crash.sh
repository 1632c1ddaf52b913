# This file is part of the connector-host project.
# SPDX-License-Identifier: Apache-2.0
#
# What an application reports when something goes wrong, whatever the vendor: an exception with its cause, a message, a batch of
# which one report cannot be read.

EXCEPTION_ID=0f8fad5b-d9cb-469f-a165-70867728950e

exercise_crash() {
    call crash exception '{
        "id": "'"$EXCEPTION_ID"'", "level": "fatal", "handled": false, "timestamp": "'"$(date -u +%Y-%m-%dT%H:%M:%SZ)"'",
        "exceptions": [
            {"type": "CheckoutError", "message": "Größe \"42\" is sold out", "frames": [
                {"function": "checkout()", "file": "Checkout.swift", "line": 42, "column": 7, "module": "Shop"},
                {"function": "main()", "file": "main.swift", "line": 3, "module": "Shop"}]},
            {"type": "StockError", "message": "none left", "frames": [
                {"function": "reserve(_:)", "file": "Stock.swift", "line": 7, "module": "Shop", "inApplication": false}]}],
        "tags": {"area": "checkout"}, "user": {"id": "u1", "email": "ada@example.com", "name": "Ada"},
        "breadcrumbs": [{"message": "opened the cart", "category": "ui", "data": {"items": 2}}],
        "release": "shop@1.2.3", "environment": "acceptance",
        "context": {"order": {"number": 17}, "attempt": 2}}'
    expect 'an exception is accepted' 'status == 0'
    call crash message '{"message": "The stock is low", "level": "warning"}'
    expect 'a message is accepted' 'status == 0'
    call crash deliver '[
        {"exceptions": [{"type": "FirstError", "message": "one"}]},
        {"exceptions": "none"},
        {"message": "second"}]'
    expect 'of a batch, what can be read is accepted, and the rest rejected' \
        'status == 0 and [answer["outcome"] for answer in result] == ["accepted", "rejected", "accepted"]'
    call crash flush
    expect 'there is nothing to be flushed' 'status == 0'
    call crash exception '{"message": "no exception"}'
    expect 'an exception without exceptions is invalid' 'status == 1 and code == "invalid"'
}
