// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

@testable import ConnectorPlatform

/// Texts from a test to the thread of a server.
final class ScriptLine: Sendable {
    private let texts = Monitor<[String?]>([])
    /// Whether the server breaks its answer off.
    let isBroken: Bool

    /// A line without texts.
    init(isBroken: Bool = false) {
        self.isBroken = isBroken
    }

    /// Adds a text; nil for the end.
    func send(_ text: String?) {
        texts.withLock { $0.append(text) }
        texts.signal()
    }

    /// Blocks the calling thread until there is a text.
    func next() -> String? {
        texts.wait { texts in texts.isEmpty ? .wait(until: nil) : .proceed(texts.removeFirst()) }
    }
}
