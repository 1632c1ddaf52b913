// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import Synchronization

/// Receives the parts of one response from the host, which retains it until the end.
final class PartReceiver: Sendable {
    /// A part of the body; nil at the end.
    typealias Part = Result<[UInt8]?, PluginError>

    private struct State {
        var waiter: OneShot<Part>?
        /// The wait for room for the next part of the request's body.
        var room: OneShot<Void>?
        var end: Part?
    }

    /// The response without its body, or why there is none.
    let head = OneShot<Result<HTTPResponse, PluginError>>()
    private let state = Mutex(State())

    /// Whether the server may still want parts of the request's body: until the response ends, or its head is not a success. After the head
    /// of a success, the server may want the rest.
    var wantsBody: Bool {
        guard state.withLock({ $0.end == nil }) else { return false }
        return switch head.value {
        case nil: true
        case .success(let response): response.isSuccess
        case .failure: false
        }
    }

    /// Takes a part; the first is the head.
    func receive(_ part: HTTPResponse) {
        if head.send(.success(part)) {
            if !wantsBody { makeRoom() }
            return
        }
        takeWaiter()?.send(.success(part.body))
    }

    /// Ends the response; a second end is ignored.
    func finish(_ outcome: Result<HTTPResponse, PluginError>) {
        head.send(outcome)
        let end = outcome.map { _ in [UInt8]?.none }
        state.withLock { $0.end = $0.end ?? end }
        takeWaiter()?.send(end)
        makeRoom()
    }

    /// Begins to wait for room, before a part of the request's body is written.
    func expectRoom() -> OneShot<Void> {
        let room = OneShot<Void>()
        state.withLock { $0.room = room }
        // The event that ends the wait may have come before the wait began.
        if !wantsBody { room.send() }
        return room
    }

    /// The host has room for the next part of the request's body, or wants no more.
    func makeRoom() {
        let room = state.withLock { state in
            defer { state.room = nil }
            return state.room
        }
        room?.send()
    }

    /// Begins to wait for the next part; nil if the response has ended, or throws its failure.
    func wait() throws(PluginError) -> OneShot<Part>? {
        try state.withLock { state throws(PluginError) in
            if let end = state.end {
                _ = try end.get()
                return nil
            }
            guard state.waiter == nil else {
                throw PluginError(.invalid, "another task is waiting for the next part of this response")
            }
            let waiter = OneShot<Part>()
            state.waiter = waiter
            return waiter
        }
    }

    private func takeWaiter() -> OneShot<Part>? {
        state.withLock { state in
            defer { state.waiter = nil }
            return state.waiter
        }
    }
}

/// The body of a response that the host receives in parts. Releasing it ends the request.
final class HostBody: Sendable {
    private let receiver: PartReceiver
    /// Resumes the request, for the next part, if true; cancels it if false.
    private let proceed: @Sendable (Bool) -> Void

    init(_ receiver: PartReceiver, _ proceed: @escaping @Sendable (_ isResuming: Bool) -> Void) {
        self.receiver = receiver
        self.proceed = proceed
    }

    deinit {
        proceed(false)
    }

    /// Ends the request; idempotent.
    func cancel() {
        proceed(false)
    }

    /// Awaits the next part; nil at the end.
    func next() async throws(PluginError) -> [UInt8]? {
        guard let waiter = try receiver.wait() else { return nil }
        proceed(true)
        let part = await withTaskCancellationHandler {
            await waiter.wait()
        } onCancel: {
            cancel()
        }
        return try part.get()
    }
}
