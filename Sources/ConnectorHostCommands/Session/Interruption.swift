// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorPlatform
internal import Dispatch
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// Handles Ctrl-C and SIGTERM while a command has open gates: the first signal cancels its work, the second exits at once.
///
/// Signals are received on a Dispatch thread, so they arrive even if a plugin blocks every other thread.
final class Interruption: Sendable {
    private struct State {
        /// The first signal, and when it came.
        var first: (signal: Int32, time: DispatchTime)?
        var cancel: (@Sendable () -> Void)?
        /// Describes what the command is waiting for.
        var unfinished: (@Sendable () -> [String])?
    }

    /// The delay after the first signal until the command prints what it is waiting for.
    ///
    /// A signal that comes sooner is no answer to that, and counts as the first: timeout(1), for one, signals its child and then
    /// its process group.
    private static let explanationDelay = DispatchTimeInterval.milliseconds(250)

    private let state = Mutex(State())

    /// Starts to receive the signals, until the process ends.
    ///
    /// - Parameter others: Further signals to handle in the same way.
    init(others: [Int32] = []) {
        Self.handle([SIGINT, SIGTERM] + others) { [self] number in receive(number) }
    }

    /// The signals that came before anything received them, a bit each.
    private static let early = Atomic<UInt32>(0)

    /// Notes the signals that end a command until ``init(others:)`` and ``handle(_:_:)`` receive them, and then take up those that came.
    ///
    /// To block them would not do: once the first thread has no task to run, Dispatch lets it wait with no signal blocked.
    static func note() {
        // It is made when it is first used, which must not be in the handler of a signal.
        early.store(0, ordering: .relaxed)
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number) { number in Interruption.early.bitwiseOr(1 << UInt32(number), ordering: .relaxed) }
        }
    }

    /// Calls a function for each arrival of some signals, on a Dispatch thread, until the process ends. Blocks until they are registered.
    static func handle(_ numbers: [Int32], _ receive: @escaping @Sendable (Int32) -> Void) {
        let registered = DispatchSemaphore(value: 0)
        let queue = DispatchQueue(label: "signals")
        for number in numbers {
            #if canImport(Darwin)
                // Otherwise the default action would end the process before the source sees the signal. On Linux, Dispatch
                // blocks the signal and reads it, and would not see a signal that is ignored.
                signal(number, SIG_IGN)
            #endif
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            // The handler retains the source, which would otherwise be cancelled when released.
            source.setEventHandler { withExtendedLifetime(source) { receive(number) } }
            // Dispatch registers the signal on another thread; until then the signal would end the process.
            source.setRegistrationHandler { registered.signal() }
            source.activate()
        }
        for _ in numbers { registered.wait() }
        // Dispatch has handlers of its own by now.
        for number in numbers {
            let bit: UInt32 = 1 << UInt32(number)
            if early.bitwiseAnd(~bit, ordering: .relaxed).oldValue & bit != 0 { receive(number) }
        }
    }

    private func receive(_ number: Int32) {
        let now = DispatchTime.now()
        let (first, cancel) = state.withLock { state in
            defer { state.first = state.first ?? (signal: number, time: now) }
            return (state.first, state.cancel)
        }
        if let first {
            guard now < first.time + Self.explanationDelay else { Self.end(by: number) }
            return
        }
        StandardStream.endSoon()
        cancel?()
        // A command that ends quickly thus prints no explanation.
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.explanationDelay) { [self] in explain(number) }
    }

    /// Cancels the command's work as the first signal does, unless one has come before.
    func interrupt(by number: Int32) {
        if exitStatus == nil { receive(number) }
    }

    /// Lets the first signal end the process, from now on, as it does by default, but not without the programs that print secrets.
    static func endAtOnce() { handle([SIGINT, SIGTERM]) { number in end(by: number) } }

    private static func end(by number: Int32) -> Never {
        TerminalGuard.leave()
        WorkMark.end()
        // They have process groups of their own, which no signal from the terminal reaches.
        ChildCommand.killAll()
        _exit(128 + number)
    }

    /// Sets the closure that describes, after the first signal, what the command is still waiting for.
    func explain(_ unfinished: @escaping @Sendable () -> [String]) {
        state.withLock { $0.unfinished = unfinished }
    }

    private func explain(_ number: Int32) {
        guard let unfinished = state.withLock(\.unfinished)?() else { return }
        let what = unfinished.isEmpty ? "running work to finish" : unfinished.joined(separator: "; ")
        let again = number == SIGINT ? "Ctrl-C again" : "a second signal"
        StandardStream.error.writeLine("connector-host: waiting for \(what); \(again) exits immediately")
    }

    /// Runs a step in a task that the first signal cancels.
    func cancelling<Value: Sendable>(_ step: @escaping @Sendable () async -> Value) async -> Value {
        let task = Task { await step() }
        let isLate = state.withLock { state in
            state.cancel = { task.cancel() }
            return state.first != nil
        }
        if isLate { task.cancel() }
        let value = await task.value
        state.withLock { $0.cancel = nil }
        return value
    }

    /// Runs a throwing step in a task that the first signal cancels.
    func cancelling<Value: Sendable>(
        _ step: @escaping @Sendable () async throws(ConnectorError) -> Value
    ) async throws(ConnectorError) -> Value {
        try await cancelling { () async -> Result<Value, ConnectorError> in
            do throws(ConnectorError) {
                return .success(try await step())
            } catch {
                return .failure(error)
            }
        }.get()
    }

    /// The exit status for the received signal: 130 for Ctrl-C, 143 for SIGTERM; nil without a signal.
    var exitStatus: ExitCode? { state.withLock { $0.first?.signal }.map { ExitCode(128 + $0) } }
}
