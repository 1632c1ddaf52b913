// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Decides what a host may do after each request; performs no I/O.
///
/// ```
/// made     ── open ───────────────► opening
/// opening  ── every opening ended ─► open
/// open     ── open ───────────────► opening
/// made, opening or open ── close ─► closing ── everything closed ─► closed
/// ```
struct HostStateMachine: Sendable {
    private enum State {
        case made
        /// - Parameter count: How many callers are opening gates.
        case opening(count: Int)
        case open
        case closing
        case closed
    }

    private var state = State.made

    /// A caller opens gates; false once the host is closing.
    mutating func open() -> Bool {
        switch state {
        case .made, .open: state = .opening(count: 1)
        case .opening(let count): state = .opening(count: count + 1)
        case .closing, .closed: return false
        }
        return true
    }

    /// The gates of one caller have opened or failed.
    mutating func opened() {
        guard case .opening(let count) = state else { return }
        state = count > 1 ? .opening(count: count - 1) : .open
    }

    /// A caller closes the host; true for the first caller, which performs the closing.
    mutating func close() -> Bool {
        guard !isClosing else { return false }
        state = .closing
        return true
    }

    /// Everything is closed.
    mutating func closed() {
        state = .closed
    }

    /// Whether the host has been opened and is not closing.
    var isOpen: Bool {
        switch state {
        case .opening, .open: true
        case .made, .closing, .closed: false
        }
    }

    /// Whether the host is closing or closed.
    var isClosing: Bool {
        switch state {
        case .closing, .closed: true
        case .made, .opening, .open: false
        }
    }
}
