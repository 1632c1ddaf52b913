// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
package import ConnectorBase
internal import Logging
internal import Synchronization

/// One request of a gate that is recorded, until its end: the first one counts.
package final class RequestRecorder: Sendable {
    private let recording: GateRecording
    private let request: RequestTemplate
    private let root: String
    private let redactor: Redactor
    private let logger: Logger
    /// What came of a response in parts; nil for one that comes whole.
    let parts: RecordedParts?
    private let hasEnded = Atomic(false)

    /// The statuses of failures that say something of the vendor or of the way to it.
    private static let recorded = [
        CONNECTOR_UNAVAILABLE, CONNECTOR_TIMED_OUT, CONNECTOR_TOO_LARGE, CONNECTOR_PROTOCOL,
    ].map { Int32($0) }

    /// Begins with a request.
    ///
    /// - Parameters:
    ///   - root: The path of what takes the vendor's place, which is no part of the vendor's paths.
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
    }

    /// Records how the request ended. Blocks on the disk.
    func end(_ result: Result<HTTPResponse, ServiceFailure>) {
        guard !hasEnded.exchange(true, ordering: .relaxed) else { return }
        switch result {
        case .success(let reply):
            guard let reply = parts == nil ? reply : parts?.collected else { return }
            add(.success(reply))
        case .failure(let failure) where Self.recorded.contains(failure.status): add(.failure(failure))
        case .failure:
            // The plugin wanted no more than what came until then.
            if let reply = parts?.collected { add(.success(reply)) }
        }
    }

    private func add(_ result: Result<HTTPResponse, ServiceFailure>) {
        recording.add(result, to: request, below: root, redactor, logger)
    }
}
