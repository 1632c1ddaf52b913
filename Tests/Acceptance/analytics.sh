# This file is part of the connector-host project.
# SPDX-License-Identifier: Apache-2.0
#
# What an application reports about its users, whatever the vendor: one call of each kind, a batch, and refused events.

exercise_analytics() {
    call analytics track '{
        "event": "Order Completed", "userId": "u1", "messageId": "m-1", "timestamp": "2026-03-01T12:00:00.123Z",
        "properties": {"total": 42.5, "items": 3, "currency": "EUR", "gift": true,
                       "note": "two \\ lines\n\"quoted\", a=b", "address": {"city": "Köln"}}}'
    expect 'a track is accepted' 'status == 0'
    call analytics identify '{"userId": "u1", "traits": {"name": "Ada", "plan": "pro"}}'
    expect 'an identify' 'status == 0'
    call analytics screen '{"userId": "u1", "name": "Cart"}'
    expect 'a screen' 'status == 0'
    call analytics page '{"anonymousId": "a1", "name": "Home", "category": "Shop"}'
    expect 'a page' 'status == 0'
    call analytics group '{"userId": "u1", "groupId": "g1", "traits": {"seats": 5}}'
    expect 'a group' 'status == 0'
    call analytics alias '{"userId": "u1", "previousId": "a1"}'
    expect 'an alias' 'status == 0'
    call analytics deliver '[
        {"type": "track", "event": "Searched, and = found", "userId": "u2", "properties": {"words": 2}},
        {"type": "track", "userId": "u2"},
        {"type": "track", "event": "Searched, and = found", "userId": "u2", "properties": {"words": 5}}]'
    expect 'of a batch, what can be read is accepted, and the rest rejected' \
        'status == 0 and [answer["outcome"] for answer in result] == ["accepted", "rejected", "accepted"]'
    call analytics flush
    expect 'there is nothing to be flushed' 'status == 0'
    call analytics track '{"event": "Nobody did it"}'
    expect 'an event of nobody is invalid' 'status == 1 and code == "invalid"'
    call analytics identify '{"userId": "u1", "type": "track"}'
    expect 'so is one of another kind' 'status == 1 and code == "invalid"'
}
