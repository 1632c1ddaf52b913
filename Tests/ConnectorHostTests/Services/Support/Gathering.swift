// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

@testable import ConnectorPlatform

/// Lets nobody go on before all are there.
final class Gathering: Sendable {
    private let waiting = Monitor(0)
    private let count: Int

    init(of count: Int) {
        self.count = count
    }

    /// Blocks the calling thread until so many threads have arrived.
    func arrive() {
        waiting.withLock { $0 += 1 }
        waiting.signal()
        waiting.wait { [count] arrived in arrived >= count ? .proceed(()) : .wait(until: nil) }
        // The signal woke one thread; each one wakes the next.
        waiting.signal()
    }
}
