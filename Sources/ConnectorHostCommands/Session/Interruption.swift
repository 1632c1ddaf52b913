// This source file is part of the connector-host project.
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

/// Ctrl-C and SIGTERM while a command has gates open: the first lets it report and close, the second ends it at once.
///
/// The signals are received on a thread of Dispatch, so a plugin that blocks every other thread cannot keep them away.
final class Interruption: Sendable {
    private struct State {
        var signal: Int32?
        var cancel: (@Sendable () -> Void)?
        /// What the command waits for.
        var unfinished: (@Sendable () -> [String])?
    }

    /// How long the first signal may take before the command says what it waits for.
    private static let patience = DispatchTimeInterval.milliseconds(250)

    private let state = Mutex(State())

    /// Receives the signals from now on, until the process ends.
    ///
    /// - Parameter others: Signals that end the process in the same way, besides those two.
    init(others: [Int32] = []) {
        let registered = DispatchSemaphore(value: 0)
        let numbers = [SIGINT, SIGTERM] + others
        for number in numbers {
            #if canImport(Darwin)
                // Otherwise the default action would end the process before the source sees the signal. On Linux, Dispatch
                // takes the signal out of the process's hands, and would not see one that is ignored.
                signal(number, SIG_IGN)
            #endif
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            // The handler keeps the source, which would stop with its last reference.
            source.setEventHandler { [self] in withExtendedLifetime(source) { receive(number) } }
            // Dispatch registers on a thread of its own: until then the signal would end the process.
            source.setRegistrationHandler { registered.signal() }
            source.activate()
        }
        for _ in numbers { registered.wait() }
    }

    private func receive(_ number: Int32) {
        let (isFirst, cancel) = state.withLock { state in
            defer { state.signal = state.signal ?? number }
            return (state.signal == nil, state.cancel)
        }
        guard isFirst else {
            TerminalGuard.leave()
            WorkMark.end()
            _exit(128 + number)
        }
        cancel?()
        // A command that ends at once has nothing to explain.
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.patience) { [self] in explain(number) }
    }

    /// Sets what the command waits for once it was told to end.
    func explain(_ unfinished: @escaping @Sendable () -> [String]) {
        state.withLock { $0.unfinished = unfinished }
    }

    private func explain(_ number: Int32) {
        guard let unfinished = state.withLock(\.unfinished)?() else { return }
        let what = unfinished.isEmpty ? "what is under way to end" : unfinished.joined(separator: "; ")
        let again = number == SIGINT ? "Ctrl-C again" : "a second signal"
        StandardStream.error.writeLine("connector-host: waiting for \(what); \(again) ends at once")
    }

    /// Runs a step as a task that the first signal cancels.
    func cancelling<Value: Sendable>(_ step: @escaping @Sendable () async -> Value) async -> Value {
        let task = Task { await step() }
        let isLate = state.withLock { state in
            state.cancel = { task.cancel() }
            return state.signal != nil
        }
        if isLate { task.cancel() }
        let value = await task.value
        state.withLock { $0.cancel = nil }
        return value
    }

    /// Runs a step that can fail as a task that the first signal cancels.
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

    /// The status of a process that a signal ended: 130 for Ctrl-C, 143 for SIGTERM; nil without a signal.
    var exitStatus: ExitCode? { state.withLock(\.signal).map { ExitCode(128 + $0) } }
}
