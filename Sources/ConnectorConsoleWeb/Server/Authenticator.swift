// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorControl
internal import ConnectorServices
internal import Synchronization

/// Who may enter the console, and with which right.
///
/// A link holds a token that is good for one browser: it is exchanged for a session, and another link takes its place. Tokens that the
/// operator set are good for any number of them, for as long as the server runs.
final class Keys: Sendable {
    /// What let a client in.
    enum Credential: Sendable, Hashable {
        /// A session, by its id.
        case session(String)
        /// The token of a link that was not used.
        case link(String)
        /// A token of the operator.
        case token(Right)

        /// By what requests are counted.
        var name: String {
            switch self {
            case .session(let id): "session \(id)"
            case .link: "link"
            case .token(let right): "token \(right.rawValue)"
            }
        }
    }

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
        /// Answers that go on for as long as what let their readers in is good.
        var leases: [UInt64: (credential: Credential, end: AsyncStream<Void>.Continuation)] = [:]
        var nextLease: UInt64 = 0
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

    /// Whether a person can enter by typing a token.
    var hasTokens: Bool { !tokens.isEmpty }

    /// Exchanges the token of a link for a session; the link is used up by that.
    ///
    /// - Returns: The session's id; nil for another token.
    func exchange(_ token: String) -> String? {
        state.withLock { state in
            guard Token.areEqual(token, state.link.text) else { return nil }
            Self.endLeases(of: .link(state.link.text), &state)
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
            endLeases(of: .session(state.sessions.remove(at: oldest).id), &state)
        }
        state.sessions.append(Session(id: id, right: right, used: state.uses))
        return id
    }

    /// What a program may do that sends a token with every request; nil for an unknown one.
    func right(ofBearer token: String) -> (right: Right, credential: Credential)? {
        if let right = right(ofToken: token) { return (right, .token(right)) }
        return isLink(token) ? (linkRight, .link(token)) : nil
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

    /// Ends a session, and every answer that goes on in it.
    func leave(_ id: String) {
        state.withLock { state in
            if let index = Self.index(of: id, in: state) { state.sessions.remove(at: index) }
            Self.endLeases(of: .session(id), &state)
        }
    }

    /// Whether a token is that of the link which was not used.
    func isLink(_ token: String) -> Bool { Token.areEqual(token, link) }

    /// Whether a credential is still good.
    func isGood(_ credential: Credential) -> Bool { state.withLock { Self.isGood(credential, $0) } }

    private static func isGood(_ credential: Credential, _ state: State) -> Bool {
        switch credential {
        case .session(let id): index(of: id, in: state) != nil
        case .link(let token): Token.areEqual(token, state.link.text)
        case .token: true
        }
    }

    /// Something that ends when a credential is no longer good; nil if it is not now.
    func lease(_ credential: Credential) -> AsyncStream<Void>? {
        let (lease, end) = AsyncStream.makeStream(of: Void.self)
        let number = state.withLock { state -> UInt64? in
            guard Self.isGood(credential, state) else { return nil }
            state.nextLease += 1
            state.leases[state.nextLease] = (credential, end)
            return state.nextLease
        }
        guard let number else { return nil }
        end.onTermination = { [weak self] _ in self?.state.withLock { _ = $0.leases.removeValue(forKey: number) } }
        return lease
    }

    /// How many answers go on.
    var leaseCount: Int { state.withLock(\.leases.count) }

    private static func endLeases(of credential: Credential, _ state: inout State) {
        for (number, lease) in state.leases where lease.credential == credential {
            state.leases[number] = nil
            // Ending a stream may call its termination handler, which takes the lock.
            lease.end.onTermination = nil
            lease.end.finish()
        }
    }

    private static func index(of id: String, in state: State) -> Int? {
        // Every one is compared, so that the time tells nothing.
        state.sessions.indices.reduce(nil) { Token.areEqual(id, state.sessions[$1].id) ? $1 : $0 }
    }
}
