// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

@testable import ConnectorOutbox

extension OutboxBatch {
    /// A batch of events, at the positions 1, 2 and so on.
    init(events: [OutboxEvent]) {
        self.init(path: "gate")
        for (index, event) in events.enumerated() {
            append(Entry(position: Int64(index + 1), attempts: 0, event: event)) { $0 += event.payload }
        }
    }
}
