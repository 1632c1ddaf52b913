// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A vendor that accepts certain keys of ``KeyPlugin``, and remembers those that it has seen.
final class KeyVendor: Sendable {
    struct State {
        var accepted: Set<String> = []
        var unchecked: Set<String> = []
        var seen: [String] = []
        var mixed: [String] = []
        var failures: [String] = []
    }

    /// What it has seen, and what it accepts; each key while it names none.
    let state = Mutex(State())
    /// Whether callers may stop.
    let isDone = Atomic(false)
    /// Called with each key that the vendor sees.
    let onKey = Mutex<(@Sendable (String) -> Void)?>(nil)

    /// Accepts these keys, and no others.
    func accept(_ keys: String...) { state.withLock { $0.accepted = Set(keys) } }
    /// Lets a proxy answer in the vendor's place what is asked with these keys.
    func leaveUnchecked(_ keys: String...) { state.withLock { $0.unchecked = Set(keys) } }
    /// The keys that it has seen, in order.
    var seen: [String] { state.withLock(\.seen) }
    /// Notes that a call has failed.
    func fail(_ error: String) { state.withLock { $0.failures.append(error) } }
    /// Why calls have failed.
    var failures: [String] { state.withLock(\.failures) }
    /// The key that it has seen last.
    var last: String? { state.withLock { $0.seen.last } }

    /// The vendor's server.
    func server() -> LoopbackServer {
        LoopbackServer { request in
            let key = request.fields["x-key"] ?? ""
            let certificate = request.fields["x-certificate"] ?? ""
            self.onKey.withLock(\.self)?(key)
            return self.state.withLock { state in
                state.seen.append(key)
                if !certificate.isEmpty, certificate != key { state.mixed.append("\(key) \(certificate)") }
                if state.unchecked.contains(key) { return .response(203) }
                return .response(state.accepted.isEmpty || state.accepted.contains(key) ? 200 : 401)
            }
        }
    }
}
