// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
package import ConnectorBase
internal import ConnectorPlatform
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

    /// What came until now; nil without a head, or if it was too long.
    var collected: HTTPResponse? {
        reply.withLock { reply in (reply?.body.count ?? 0) <= Self.limit ? reply : nil }
    }
}

extension GateServices {
    /// The time of day for the plugin: that of the recording that is replayed or made, or the host's.
    package var wallTime: Timestamp { fixedTime ?? host.clock.wallTime() }

    /// The time of day of the recording that is replayed or made; nil for the host's.
    package var fixedTime: Timestamp? { context.vendor?.time ?? recording?.readTime() }

    /// The recording that this gate is a part of; nil if it is not recorded.
    var recording: GateRecording? { context.recording.map { host.recording(of: $0) } }

    /// The failure of a request that a recording does not have; nil for every other response.
    func refusal(by reply: HTTPResponse) -> ServiceFailure? {
        guard context.vendor != nil, let reason = reply.unanswered else { return nil }
        return ServiceFailure(status: Int32(CONNECTOR_FAILED), message: reason)
    }
}
