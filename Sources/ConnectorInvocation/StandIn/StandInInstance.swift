// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase
internal import ConnectorManifest
internal import ConnectorPlatform
internal import Synchronization

/// One instance of a plugin that a stand-in replaces.
///
/// `@unchecked Sendable`: the pointer to the host's table is constant, and the host accepts calls on any thread until `destroy`
/// returns. Everything else is protected by a mutex, or constant and `Sendable`.
@safe
final class StandInInstance: @unchecked Sendable {
    /// What answers.
    let standIn: StandIn
    private let host: UnsafePointer<connector_host>
    /// The timers of delayed answers, by call; nil once the instance is destroyed.
    private let timers = Mutex<[UInt64: HostTimer]?>([:])

    init(_ standIn: StandIn, host: UnsafePointer<connector_host>) {
        self.standIn = standIn
        unsafe self.host = host
    }

    /// The instance that the host passes to a function.
    static func at(_ pointer: UnsafeMutableRawPointer?) -> StandInInstance? {
        unsafe pointer.map { unsafe Unmanaged<StandInInstance>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Completes `open` or `probe`.
    func prove(_ operation: UInt64) {
        complete(
            operation,
            standIn.proof().map { detail in
                JSONValue.array([["kind": "configured", "detail": .string(detail)]]).utf8()
            }
        )
    }

    /// Completes a call after a delay, unless it is cancelled meanwhile.
    func complete(_ operation: UInt64, after delay: Duration, _ outcome: Result<[UInt8]?, ConnectorError>) {
        guard delay > .zero else { return complete(operation, outcome) }
        timers.withLock { timers in
            guard timers != nil else { return }
            timers?[operation] = standIn.clock.schedule(after: delay.nanoseconds) { [weak self] in
                self?.fire(operation, outcome)
            }
        }
    }

    /// Completes under the lock, so that it has happened before the instance is destroyed, or does not happen at all.
    private func fire(_ operation: UInt64, _ outcome: Result<[UInt8]?, ConnectorError>) {
        timers.withLock { timers in
            if timers?.removeValue(forKey: operation) != nil { complete(operation, outcome) }
        }
    }

    private func complete(_ operation: UInt64, _ outcome: Result<[UInt8], ConnectorError>) {
        complete(operation, outcome.map(Optional.some))
    }

    private func complete(_ operation: UInt64, _ outcome: Result<[UInt8]?, ConnectorError>) {
        let context = unsafe host.pointee.context
        switch outcome {
        case .success(let bytes):
            let bytes = bytes ?? []
            _ = unsafe bytes.withUnsafeBufferPointer { bytes in
                unsafe host.pointee.complete(
                    context,
                    operation,
                    Int32(CONNECTOR_OK),
                    bytes.isEmpty ? nil : bytes.baseAddress,
                    UInt64(bytes.count),
                    nil
                )
            }
        case .failure(let failure):
            var error = connector_error(failure)
            _ = unsafe host.pointee.complete(context, operation, error.code, nil, 0, &error)
        }
    }

    /// Drops the answer to a call that the host gave up.
    func cancel(_ operation: UInt64) {
        let timer = timers.withLock { $0?.removeValue(forKey: operation) }
        if let timer { standIn.clock.cancel(timer) }
    }

    /// Drops every answer that is still delayed; `destroy` calls it.
    func end() {
        let waiting = timers.withLock { timers in
            defer { timers = nil }
            return timers ?? [:]
        }
        for timer in waiting.values { standIn.clock.cancel(timer) }
    }
}

extension connector_error {
    /// Writes a failure as a plugin would; a long message is cut.
    init(_ error: ConnectorError) {
        self.init()
        struct_size = UInt32(MemoryLayout<connector_error>.size)
        code = error.code.status
        retryable = error.isRetryable ? 1 : 0
        retry_after_ns = error.retryAfter?.nanoseconds ?? 0
        unsafe withUnsafeMutableBytes(of: &message) { bytes in
            // One byte for the NUL, four so that the reader does not take the text for a cut one.
            for (index, byte) in error.message.excerpt(of: 300).utf8.prefix(bytes.count - 5).enumerated() {
                unsafe bytes[index] = byte
            }
        }
    }
}
