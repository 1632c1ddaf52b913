// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import Synchronization

/// A response in parts, collected for a recording.
final class RecordedParts: Sendable {
    /// The most bytes of a body that are collected.
    private static let limit = GateRecording.sizeLimit

    private let reply = Mutex<HTTPResponse?>(nil)

    /// Adds a part; the first is the head.
    func add(_ part: HTTPResponse) {
        reply.withLock { reply in
            guard let size = reply?.body.count else {
                reply = part
                return
            }
            // One byte more than the limit says that it was too long.
            reply?.body += part.body.prefix(Self.limit + 1 - size)
        }
    }

    /// The response so far; nil without a head, or if the body is too long.
    var collected: HTTPResponse? { isTooLong ? nil : reply.withLock { $0 } }

    /// Whether the body is longer than a recording may be.
    var isTooLong: Bool { reply.withLock { ($0?.body.count ?? 0) > Self.limit } }
}
