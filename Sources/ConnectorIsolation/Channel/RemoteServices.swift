// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorPlatform
internal import Synchronization

/// Runs the requests of a plugin in a runner on the services of the host.
///
/// Each request calls the same function table that a plugin in this process calls, with memory of the message. So the services check,
/// redact and count the same things, and secrets stay here.
final class RemoteServices: Sendable {
    let services: any InstanceServices
    private let dependencies: CallDependencies
    /// Where the storage is read and written, and the time of a recording read: files are synced, and each plugin may hold one host
    /// thread with that.
    private let storing: CallThreads
    /// Whether the runner follows the clock of this host.
    let followsHostClock: Bool
    /// The plugin's timers, if the runner follows this host's clock. The runner keeps to the limit of a plugin, but a timer may arrive here
    /// before the cancellation that made room for it.
    let timers: PluginTimers
    private let state = Mutex(State())

    /// How many bytes of requests may wait for that thread; the file of the storage holds at most half of that.
    private static let storingLimit = 16 << 20

    /// The longest id of a service that the plugin may not use, in bytes; a runner sends no longer one.
    private static let deniedLimit = 4096

    private struct State: Sendable {
        var link: (runner: Runner, number: UInt32)?
        /// The size of the requests that wait for that thread, in bytes.
        var storing = 0
        /// The host's numbers of requests and gate calls, by the runner's.
        var numbers: [UInt64: UInt64] = [:]
        /// The last lines that the plugin has logged.
        var lines: [[UInt8]] = []
    }

    init(_ services: any InstanceServices, _ dependencies: CallDependencies) {
        self.services = services
        self.dependencies = dependencies
        storing = CallThreads(dependencies.workers, limit: 1)
        followsHostClock = dependencies.hasOwnClock
        timers = PluginTimers(clock: dependencies.clock, limit: 2 * TimerCallback.limit)
    }

    /// Says where answers go.
    func connect(_ runner: Runner, _ number: UInt32) {
        state.withLock { $0.link = (runner, number) }
    }

    /// Sends a message about the instance to the runner.
    ///
    /// - Parameter refusal: Sent instead of a message that is too large; nil if the message cannot be.
    func send(_ kind: MessageKind, _ message: MessageWriter, orRefusal refusal: MessageWriter? = nil) {
        guard let link = state.withLock(\.link) else { return }
        let isTooLarge = message.bytes.count > FrameHeader.limit
        let payload = isTooLarge ? refusal?.bytes ?? message.bytes : message.bytes
        link.runner.send(kind, instance: link.number, payload, isEssential: true)
    }

    /// Runs a request of the plugin.
    ///
    /// - Parameter trace: Finds the trace of a pending operation.
    func receive(
        _ kind: MessageKind,
        _ message: inout MessageReader,
        _ trace: (UInt64) -> TraceContext?
    ) throws(ConnectorError) {
        switch kind {
        case .denied: _ = unsafe services.table(named: try message.text(limit: Self.deniedLimit))
        case .log: try log(&message, trace)
        case .emit: try emit(&message)
        case .storageGet, .storageSet, .storageRemove, .storageList, .storageReplace: try store(kind, &message)
        case .request: try request(&message, trace)
        case .requestCancel, .requestResume: try steer(kind, &message)
        case .requestWrite: try write(&message)
        case .gateCall: try callGate(&message, trace)
        case .gateCancel: try cancelGate(&message)
        case .gateBound: try bound(&message)
        case .wallTime: try wallTime(&message)
        case .monotonicTime where followsHostClock: try monotonicTime(&message)
        case .timerStart where followsHostClock: try startTimer(&message)
        case .timerCancel: _ = timers.cancel(try message.integer())
        case .stop: stopAndTell()
        default: throw MessageReader.malformed
        }
    }

    /// Stops the services, and the timers that run here.
    ///
    /// - Returns: An event that fires once all callbacks have returned; nil if none is running or queued.
    func stop() -> OneShot<Void>? {
        timers.stop()
        return services.stop()
    }

    /// Stops the services, and tells the runner when nothing more will come.
    private func stopAndTell() {
        let drained = stop()
        guard let drained else { return send(.stopped, MessageWriter()) }
        Task(executorPreference: dependencies.gateThreads) { [self] in
            await drained.wait()
            send(.stopped, MessageWriter())
        }
    }

    // MARK: Lines

    /// Keeps a line that the plugin logs, unless it is longer than a line that a runner prints: a cut could leave a piece of a secret.
    func keep(_ line: [UInt8]) {
        guard line.count <= OutputLines.lineLimit else { return }
        state.withLock { $0.lines = $0.lines.suffix(OutputLines.keptCount - 1) + [line] }
    }

    /// The last lines that the plugin has logged, with their secrets.
    var lastLines: [String] { state.withLock(\.lines).map { String(decoding: $0, as: UTF8.self) } }

    // MARK: Numbers

    /// Notes that a request begins; it may have ended by the time its number is known.
    func expect(_ token: UInt64) { state.withLock { $0.numbers[token] = 0 } }

    /// Records the host's number of a request that has not ended.
    func remember(_ number: UInt64, as token: UInt64) {
        state.withLock { if $0.numbers[token] != nil { $0.numbers[token] = number } }
    }

    /// Tells the runner whether a request has begun. If it has not, its callback will never run, and is released.
    func started(
        _ token: UInt64,
        _ status: Int32,
        _ number: UInt64,
        _ user: UnsafeMutableRawPointer,
        _ error: UnsafePointer<connector_error>
    ) {
        if status == Int32(CONNECTOR_OK) {
            remember(number, as: token)
        } else {
            forget(token)
            unsafe Unmanaged<RemoteCallback>.fromOpaque(user).release()
        }
        unsafe answer(token, status, error: error)
    }

    func forget(_ token: UInt64) { _ = state.withLock { $0.numbers.removeValue(forKey: token) } }

    func number(_ token: UInt64) -> UInt64? { state.withLock { $0.numbers[token] } }

    // MARK: Answers

    /// Answers a waiting request, without an error object.
    func answer(_ token: UInt64, _ status: Int32) {
        unsafe answer(token, status, error: nil)
    }

    /// Answers a waiting request.
    func answer(_ token: UInt64, _ status: Int32, error: UnsafePointer<connector_error>?, _ value: [UInt8] = []) {
        unsafe send(
            .answer,
            MessageWriter(answering: token, status, error: error, value),
            orRefusal: MessageWriter(answering: token, Int32(CONNECTOR_TOO_LARGE))
        )
    }

    /// Runs a request that may wait for the disk, after those that came before it.
    ///
    /// - Parameter size: How many bytes it holds meanwhile.
    /// - Returns: False if too much waits already.
    func store(holding size: Int, _ job: @escaping @Sendable () -> Void) -> Bool {
        let hasRoom = state.withLock { state in
            guard size <= Self.storingLimit - state.storing else { return false }
            state.storing += size
            return true
        }
        guard hasRoom else { return false }
        storing.run { [self] in
            job()
            state.withLock { $0.storing -= size }
        }
        return true
    }
}
