// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Synchronization

/// Lets one thread at a time load images, while the others get further images ready.
///
/// The dynamic linker has one lock for all loading, and threads that wait for it cost more than they gain. So nobody waits
/// here: a thread that finds another one loading leaves its image to that one, and goes on.
final class LoadingLane: Sendable {
    /// Loads an image; what it answers runs after that, and may block.
    typealias Load = @Sendable () -> Completion
    /// What follows a load.
    typealias Completion = @Sendable () -> Void

    /// The one lane, as there is one dynamic linker.
    static let shared = LoadingLane()

    private struct State {
        var waiting = CircularBuffer<Load>()
        var isTaken = false
    }

    /// How many images may wait: each holds a descriptor and a copy of its file.
    private static let limit = 64

    private let state = Mutex(State())

    /// Loads an image, now or soon, here or on the thread that is loading already.
    ///
    /// - Parameters:
    ///   - load: Never blocks for long.
    ///   - passOn: Runs a completion on another thread; the last one runs here.
    func run(_ load: @escaping Load, passOn: (@escaping Completion) -> Void) {
        enum Role { case leave, loadAll, loadThis }
        let role = state.withLock { state -> Role in
            guard state.isTaken else {
                state.isTaken = true
                return .loadAll
            }
            guard state.waiting.count < Self.limit else { return .loadThis }
            state.waiting.append(load)
            return .leave
        }
        if role == .leave { return }
        var completion = load()
        while role == .loadAll, let next = next() {
            passOn(completion)
            completion = next()
        }
        completion()
    }

    private func next() -> Load? {
        state.withLock { state in
            if let load = state.waiting.popFirst() { return load }
            state.isTaken = false
            return nil
        }
    }
}
