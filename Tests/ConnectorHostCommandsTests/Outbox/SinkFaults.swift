// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorTestSupport
import Synchronization

extension Sink {
    /// Answers at random, the same in every run: half of the answers are good, and none of the others blames the event.
    func misbehaves(seed: UInt64) {
        let faults = Answer.allCases.filter { $0 != .takes && $0 != .refuses }
        let generator = SharedGenerator(seed: seed)
        // A wrong key, too, is a fault for which no event is dropped.
        answers { _ in
            let choice = generator.next(of: 2 * faults.count)
            return choice < faults.count ? faults[choice] : .takes
        }
    }
}

/// Random choices for several threads.
private final class SharedGenerator: Sendable {
    private let generator: Mutex<SeededGenerator>

    init(seed: UInt64) {
        generator = Mutex(SeededGenerator(seed: seed))
    }

    func next(of count: Int) -> Int { generator.withLock { Int.random(in: 0..<count, using: &$0) } }
}
