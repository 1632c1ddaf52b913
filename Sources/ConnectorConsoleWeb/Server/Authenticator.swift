// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorControl
internal import ConnectorServices
internal import Synchronization

/// Authenticates the clients of the console and determines the permission of each.
///
/// A link contains a token for one browser, which exchanges it for a session; a new link then replaces it. The operator's tokens
/// authenticate any number of clients for as long as the server runs.
final class Authenticator: Sendable {
    /// The credential of an authenticated client.
    enum Credential: Sendable, Hashable {
        /// A session, by its id.
        case session(String)
        /// The token of an unused link.
        case link(String)
        /// A token of the operator.
        case token(Permission)

        /// The key for rate limiting.
        var name: String {
            switch self {
            case .session(let id): "session \(id)"
            case .link: "link"
            case .token(let permission): "token \(permission.rawValue)"
            }
        }
    }

    /// A browser that has logged in.
    private struct Session {
        var id: String
        var permission: Permission
        /// When it was last used, as a value of the count of uses.
        var used: UInt64
        /// The result of its last act, until a page has shown it.
        var message: String?
    }

    private struct State {
        var link = Token()
        var sessions: [Session] = []
        var uses: UInt64 = 0
        /// The streaming responses; each ends when the credential of its reader becomes invalid.
        var leases: [UInt64: (credential: Credential, end: AsyncStream<Void>.Continuation)] = [:]
        var nextLease: UInt64 = 0
    }

    private let tokens: [(secret: Secret, permission: Permission)]
    private let linkPermission: Permission
    private let state = Mutex(State())

    /// The maximum number of sessions; beyond it, the least recently used one is removed.
    static let sessionLimit = 64
    /// The minimum length of an operator's token, in bytes.
    static let minimumTokenLength = 16

    /// Creates an authenticator with the operator's tokens.
    ///
    /// - Parameters:
    ///   - act: The token that grants acting; nil for none.
    ///   - read: The token that grants reading; nil for none.
    ///   - linkPermission: The permission that a link grants.
    init(act: Secret?, read: Secret?, linkPermission: Permission) {
        let isReadOnly = linkPermission == .read
        tokens = [act.map { ($0, isReadOnly ? .read : .act) }, read.map { ($0, .read) }].compactMap(\.self)
        self.linkPermission = linkPermission
    }

    /// The token of the unused link.
    var link: String { state.withLock(\.link.text) }

    /// Whether an operator can log in by typing a token.
    var hasTokens: Bool { !tokens.isEmpty }

    /// Exchanges the token of a link for a session, and replaces the link.
    ///
    /// - Returns: The session's id; nil if the token does not belong to the unused link.
    func exchange(_ token: String) -> String? {
        state.withLock { state in
            guard Token.areEqual(token, state.link.text) else { return nil }
            Self.endLeases(of: .link(state.link.text), &state)
            state.link = Token()
            return Self.startSession(linkPermission, &state)
        }
    }

    /// Exchanges a token of the operator for a session.
    ///
    /// - Returns: The session's id; nil if the token is wrong.
    func logIn(_ token: String) -> String? {
        guard let permission = permission(ofToken: token) else { return nil }
        return state.withLock { Self.startSession(permission, &$0) }
    }

    private static func startSession(_ permission: Permission, _ state: inout State) -> String {
        state.uses += 1
        let id = Token().text
        if state.sessions.count >= sessionLimit,
            let oldest = state.sessions.indices.min(by: { state.sessions[$0].used < state.sessions[$1].used })
        {
            endLeases(of: .session(state.sessions.remove(at: oldest).id), &state)
        }
        state.sessions.append(Session(id: id, permission: permission, used: state.uses))
        return id
    }

    /// The permission and the credential of a program that sends a bearer token; nil if the token is unknown.
    func permission(ofBearer token: String) -> (permission: Permission, credential: Credential)? {
        if let permission = permission(ofToken: token) { return (permission, .token(permission)) }
        return isLink(token) ? (linkPermission, .link(token)) : nil
    }

    private func permission(ofToken token: String) -> Permission? {
        // Compares against every token, so that the timing reveals nothing.
        tokens.reduce(nil) { found, known in Token.areEqual(token, known.secret.reveal()) ? known.permission : found }
    }

    /// The permission of a browser; nil if the session is unknown.
    func permission(ofSession id: String) -> Permission? {
        state.withLock { state in
            guard let index = Self.index(of: id, in: state) else { return nil }
            state.uses += 1
            state.sessions[index].used = state.uses
            return state.sessions[index].permission
        }
    }

    /// Stores the result of an act for the next page of a session.
    func setMessage(_ message: String, for id: String) {
        state.withLock { state in
            if let index = Self.index(of: id, in: state) { state.sessions[index].message = message }
        }
    }

    /// Returns and removes the result of a session's last act.
    func takeMessage(of id: String) -> String? {
        state.withLock { state in
            Self.index(of: id, in: state).flatMap { state.sessions[$0].message.take() }
        }
    }

    /// Ends a session and its streaming responses.
    func logOut(_ id: String) {
        state.withLock { state in
            if let index = Self.index(of: id, in: state) { state.sessions.remove(at: index) }
            Self.endLeases(of: .session(id), &state)
        }
    }

    /// Whether a token belongs to the unused link.
    func isLink(_ token: String) -> Bool { Token.areEqual(token, link) }

    /// Whether a credential is still valid.
    func isValid(_ credential: Credential) -> Bool { state.withLock { Self.isValid(credential, $0) } }

    private static func isValid(_ credential: Credential, _ state: State) -> Bool {
        switch credential {
        case .session(let id): index(of: id, in: state) != nil
        case .link(let token): Token.areEqual(token, state.link.text)
        case .token: true
        }
    }

    /// A stream that finishes when a credential becomes invalid; nil if it already is.
    func lease(_ credential: Credential) -> AsyncStream<Void>? {
        let (lease, end) = AsyncStream.makeStream(of: Void.self)
        let number = state.withLock { state -> UInt64? in
            guard Self.isValid(credential, state) else { return nil }
            state.nextLease += 1
            state.leases[state.nextLease] = (credential, end)
            return state.nextLease
        }
        guard let number else { return nil }
        end.onTermination = { [weak self] _ in self?.state.withLock { _ = $0.leases.removeValue(forKey: number) } }
        return lease
    }

    /// The number of streaming responses.
    var leaseCount: Int { state.withLock(\.leases.count) }

    private static func endLeases(of credential: Credential, _ state: inout State) {
        for (number, lease) in state.leases where lease.credential == credential {
            state.leases[number] = nil
            // Finishing a stream would call its termination handler, which takes the lock.
            lease.end.onTermination = nil
            lease.end.finish()
        }
    }

    private static func index(of id: String, in state: State) -> Int? {
        // Compares against every session, so that the timing reveals nothing.
        state.sessions.indices.reduce(nil) { Token.areEqual(id, state.sessions[$1].id) ? $1 : $0 }
    }
}
