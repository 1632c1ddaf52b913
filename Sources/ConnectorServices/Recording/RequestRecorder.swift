// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase
internal import ConnectorInvocation
internal import Logging
internal import Synchronization

/// Records one request of a gate and how it ends; only the first end counts.
package final class RequestRecorder: Sendable {
    private let recording: GateRecording
    private let request: RequestTemplate
    private let root: String
    private let redactor: Redactor
    private let logger: Logger
    /// What has arrived of a response in parts; nil for one that comes whole.
    let parts: RecordedParts?
    /// What has been sent of a body in parts; nil for one that is sent whole.
    private let sent: Mutex<SentBody>?
    private let hasEnded = Atomic(false)

    private struct SentBody {
        var bytes: [UInt8] = []
        var hasLast = false
    }

    /// The statuses of failures that say something about the vendor or the way to it.
    private static let recorded = [
        CONNECTOR_UNAVAILABLE, CONNECTOR_TIMED_OUT, CONNECTOR_TOO_LARGE, CONNECTOR_PROTOCOL,
    ].map { Int32($0) }

    /// Begins to record a request.
    ///
    /// - Parameters:
    ///   - root: The root path of a simulated vendor, which is not part of the vendor's own paths.
    ///   - isInParts: Whether the response comes in parts.
    init(
        _ recording: GateRecording,
        _ request: RequestTemplate,
        below root: String,
        isInParts: Bool,
        _ redactor: Redactor,
        _ logger: Logger
    ) {
        self.recording = recording
        self.request = request
        self.root = root
        self.redactor = redactor
        self.logger = logger
        parts = isInParts ? RecordedParts() : nil
        sent = request.flags & CONNECTOR_HTTP_BODY_IN_PARTS != 0 ? Mutex(SentBody()) : nil
    }

    /// Adds a part of the body, which is about to be sent, as far as the whole may be compared.
    func addSent(_ part: [UInt8], isLast: Bool) {
        sent?.withLock { sent in
            sent.bytes += part.prefix(RecordedRequestMatch.comparedLimit + 1 - sent.bytes.count)
            sent.hasLast = isLast
        }
    }

    /// Records no end, unless it is recorded already.
    func leaveOut() { hasEnded.store(true, ordering: .relaxed) }

    /// Records how the request ended. Blocks on the disk.
    func end(_ result: Result<HTTPResponse, ServiceFailure>) {
        guard !hasEnded.exchange(true, ordering: .relaxed) else { return }
        let texts = RecordedTexts(redactor: redactor)
        switch result {
        case .success(let reply):
            guard let reply = parts == nil ? reply : parts?.collected else { return leaveOutLong() }
            add(.success(reply))
        case .failure(let failure) where Self.recorded.contains(failure.status):
            // Nothing can be read of a compressed beginning, and of some no secrets can be found.
            if let reply = parts?.collected, !reply.isDecodable, !texts.mayIssueToken(in: reply) {
                add(.success(reply), brokenBy: failure)
            } else {
                add(.failure(failure))
            }
        case .failure:
            // The plugin wanted no more than what had arrived.
            if parts?.isTooLong == true { return leaveOutLong() }
            guard let reply = parts?.collected else { return }
            add(.success(reply))
        }
    }

    private func leaveOutLong() {
        recording.warn("a response is not recorded: it is longer than a recording may be", request, logger)
    }

    private func add(_ result: Result<HTTPResponse, ServiceFailure>, brokenBy failure: ServiceFailure? = nil) {
        var request = request
        sent?.withLock { sent in
            if sent.hasLast, sent.bytes.count <= RecordedRequestMatch.comparedLimit { request.body = sent.bytes }
        }
        let isInParts = parts != nil
        recording.add(result, brokenBy: failure, isInParts: isInParts, to: request, below: root, redactor, logger)
    }
}
