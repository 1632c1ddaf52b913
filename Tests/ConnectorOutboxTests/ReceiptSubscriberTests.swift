// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConnectorOutbox

/// A follower of an event hears everything in order.
@Suite(.timeLimit(.minutes(5))) struct ReceiptSubscriberTests {
    @Test func `an initial state that was read too early is not told after a change`() async {
        let (stream, continuation) = AsyncStream.makeStream(of: DeliveryChange.self)
        let follower = ReceiptSubscriber(of: ["a", "b"], continuation)
        follower.send(DeliveryChange("a", .dead))
        follower.begin(with: DeliveryChange("a", .queued))
        follower.begin(with: DeliveryChange("b", .queued))
        follower.send(DeliveryChange("b", .retrying))
        follower.begin(with: DeliveryChange("b", .queued))
        follower.send(DeliveryChange("b", .delivered))
        var told: [String] = []
        for await change in stream { told.append("\(change.connector) \(change.state)") }
        #expect(told == ["a dead", "b queued", "b retrying", "b delivered"])
    }
}
