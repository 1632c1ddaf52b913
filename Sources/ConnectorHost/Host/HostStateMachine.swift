// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// What a host may do, decided from what was asked of it.
///
/// ```
/// made ──open──► opening ──► open ──close──► closing ──► closed
///   └──────────────┴────────close─────────────▲
/// ```
struct HostStateMachine: Sendable {
    private enum State {
        case made
        /// - Parameter count: How many ask for gates to open at once.
        case opening(count: Int)
        case open
        case closing
        case closed
    }

    private var state = State.made

    /// Somebody wants gates open; false if the host closes or is closed.
    mutating func open() -> Bool {
        switch state {
        case .made, .open: state = .opening(count: 1)
        case .opening(let count): state = .opening(count: count + 1)
        case .closing, .closed: return false
        }
        return true
    }

    /// What somebody wanted open has opened or failed.
    mutating func opened() {
        guard case .opening(let count) = state else { return }
        state = count > 1 ? .opening(count: count - 1) : .open
    }

    /// Somebody wants the host closed; true for the first, who closes it.
    mutating func close() -> Bool {
        guard !isClosing else { return false }
        state = .closing
        return true
    }

    /// Everything is closed.
    mutating func closed() {
        state = .closed
    }

    /// Whether gates are open, or meant to be.
    var isOpen: Bool {
        switch state {
        case .opening, .open: true
        case .made, .closing, .closed: false
        }
    }

    /// Whether it closes or is closed.
    var isClosing: Bool {
        switch state {
        case .closing, .closed: true
        case .made, .opening, .open: false
        }
    }
}
