// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorControl
internal import ConnectorServices
internal import Synchronization

/// Who may enter the console, and with which right.
///
/// A link holds a token that is good for one browser: it is exchanged for a session, and another link takes its place. Tokens that the
/// operator set are good for any number of them.
final class Keys: Sendable {
    /// A browser that has entered.
    private struct Session {
        var id: String
        var right: Right
        /// When it was last used, in requests.
        var used: UInt64
        /// What became of its last act, until a page tells it.
        var message: String?
    }

    private struct State {
        var link = Token()
        var sessions: [Session] = []
        var uses: UInt64 = 0
    }

    private let tokens: [(secret: Secret, right: Right)]
    private let linkRight: Right
    private let state = Mutex(State())

    /// The most browsers at once; the one that was not used for the longest time has to enter again.
    static let sessionLimit = 64
    /// The shortest token that an operator may set, in bytes.
    static let shortestToken = 16

    /// Takes the operator's tokens.
    ///
    /// - Parameter linkRight: What a link gives.
    init(act: Secret?, read: Secret?, linkRight: Right) {
        let isReadOnly = linkRight == .read
        tokens = [act.map { ($0, isReadOnly ? .read : .act) }, read.map { ($0, .read) }].compactMap(\.self)
        self.linkRight = linkRight
    }

    /// The token of the link that has not been used.
    var link: String { state.withLock(\.link.text) }

    /// Whether somebody can enter by typing a token.
    var hasTokens: Bool { !tokens.isEmpty }

    /// Exchanges the token of a link for a session; the link is used up by that.
    ///
    /// - Returns: The session's id; nil for another token.
    func exchange(_ token: String) -> String? {
        state.withLock { state in
            guard Token.areEqual(token, state.link.text) else { return nil }
            state.link = Token()
            return Self.enter(linkRight, &state)
        }
    }

    /// Exchanges a token of the operator for a session.
    func enter(_ token: String) -> String? {
        guard let right = right(ofToken: token) else { return nil }
        return state.withLock { Self.enter(right, &$0) }
    }

    private static func enter(_ right: Right, _ state: inout State) -> String {
        state.uses += 1
        let id = Token().text
        if state.sessions.count >= sessionLimit,
            let oldest = state.sessions.indices.min(by: { state.sessions[$0].used < state.sessions[$1].used })
        {
            state.sessions.remove(at: oldest)
        }
        state.sessions.append(Session(id: id, right: right, used: state.uses))
        return id
    }

    /// What a program may do that sends a token with every request; nil for an unknown one.
    func right(ofBearer token: String) -> Right? {
        right(ofToken: token) ?? (Token.areEqual(token, link) ? linkRight : nil)
    }

    private func right(ofToken token: String) -> Right? {
        // Every one is compared, so that the time tells nothing.
        tokens.reduce(nil) { found, known in Token.areEqual(token, known.secret.reveal()) ? known.right : found }
    }

    /// What a browser may do; nil for an unknown session.
    func right(ofSession id: String) -> Right? {
        state.withLock { state in
            guard let index = Self.index(of: id, in: state) else { return nil }
            state.uses += 1
            state.sessions[index].used = state.uses
            return state.sessions[index].right
        }
    }

    /// Keeps what became of an act for the next page of a browser.
    func keep(_ message: String, for id: String) {
        state.withLock { state in
            if let index = Self.index(of: id, in: state) { state.sessions[index].message = message }
        }
    }

    /// What became of a browser's last act; told once.
    func takeMessage(of id: String) -> String? {
        state.withLock { state in
            Self.index(of: id, in: state).flatMap { state.sessions[$0].message.take() }
        }
    }

    /// Ends a session.
    func leave(_ id: String) {
        state.withLock { state in
            if let index = Self.index(of: id, in: state) { state.sessions.remove(at: index) }
        }
    }

    private static func index(of id: String, in state: State) -> Int? {
        // Every one is compared, so that the time tells nothing.
        state.sessions.indices.reduce(nil) { Token.areEqual(id, state.sessions[$1].id) ? $1 : $0 }
    }
}
