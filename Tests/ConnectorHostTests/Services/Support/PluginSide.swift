// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import ConnectorManifest
import InMemoryLogging
import Logging
import Synchronization

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// The services as a plugin uses them: through the C tables, with C callbacks.
final class PluginSide: Sendable {
    /// What the tables belong to.
    let gate: GateServices
    /// What was logged.
    let log: InMemoryLogHandler

    /// A gate that may do everything on the loopback interface.
    init(
        host: HostServices = HostServices(options: .init(http: .patient)),
        path: String = "analytics/segment",
        services: [String] = Manifest.hostServices,
        egress: [String] = ["127.0.0.1"],
        secrets: [String: String] = ["key": "s3cr3t/+"],
        level: Logger.Level = .trace,
        propagatesTrace: Bool = false,
        cacheBytes: Int = 0,
        recording: RecordingTarget? = nil,
        vendor: SimulatedVendor? = nil,
        gates: UsedGates? = nil
    ) {
        let handler = InMemoryLogHandler()
        var logger = Logger(label: "test") { _ in handler }
        logger.logLevel = level
        logger[metadataKey: "connector"] = "\(path)"
        log = handler
        gate = GateServices(
            host: host,
            context: GateServices.Context(
                path: path,
                services: services,
                egress: egress,
                secret: { secrets[$0] },
                redactor: Redactor(secrets.values.map { Secret($0) }),
                gates: gates,
                propagatesTrace: propagatesTrace,
                cacheBytes: cacheBytes,
                recording: recording,
                vendor: vendor,
                logger: logger
            )
        )
    }

    /// The table of http/1.
    var http: UnsafePointer<connector_http>? {
        unsafe gate.table(named: "http/1")?.assumingMemoryBound(to: connector_http.self)
    }

    /// The table of clock/1.
    var clock: UnsafePointer<connector_clock>? {
        unsafe gate.table(named: "clock/1")?.assumingMemoryBound(to: connector_clock.self)
    }

    /// The table of log/1.
    var logTable: UnsafePointer<connector_log>? {
        unsafe gate.table(named: "log/1")?.assumingMemoryBound(to: connector_log.self)
    }
}

/// Counts calls of a C callback, and lets a test wait for one.
final class CallCounter: Sendable {
    private struct State {
        var count = 0
        var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    /// How often the callback ran.
    var count: Int { state.withLock { $0.count } }

    /// To be passed as `user`; the counter outlives the test's plugin side.
    var pointer: UnsafeMutableRawPointer { unsafe Unmanaged.passUnretained(self).toOpaque() }

    /// The callback of a timer.
    static let fire: @convention(c) (UnsafeMutableRawPointer?) -> Void = { user in
        guard let user = unsafe user else { return }
        unsafe Unmanaged<CallCounter>.fromOpaque(user).takeUnretainedValue().add()
    }

    /// Counts one.
    func add() {
        let ready = state.withLock { state in
            state.count += 1
            let count = state.count
            defer { state.waiters.removeAll { $0.count <= count } }
            return state.waiters.filter { $0.count <= count }.map(\.continuation)
        }
        for continuation in ready { continuation.resume() }
    }

    /// Returns once the callback ran so often.
    func reaches(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                if state.count >= count { return true }
                state.waiters.append((count, continuation))
                return false
            }
            if isReady { continuation.resume() }
        }
    }
}
