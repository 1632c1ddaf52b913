// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorServices
internal import Synchronization

/// The redactor of a host. It learns each secret that is read while the host runs, and forgets none.
package final class SharedRedactor: Sendable {
    private struct State {
        var secrets: Set<String>
        var redactor: Redactor
    }

    private let state: Mutex<State>

    /// Begins with the secrets of the file.
    package init(_ secrets: [Secret]) {
        state = Mutex(State(secrets: Set(secrets.map { $0.reveal() }), redactor: Redactor(secrets)))
    }

    /// Redacts further secrets from now on.
    package func add(_ secrets: some Sequence<Secret>) {
        state.withLock { state in
            let new = Set(secrets.map { $0.reveal() }).subtracting(state.secrets)
            guard !new.isEmpty else { return }
            state.secrets.formUnion(new)
            state.redactor = Redactor(state.secrets.map { Secret($0) })
        }
    }

    /// The text with `•••` in place of every secret.
    package func redact(_ text: String) -> String {
        state.withLock(\.redactor).redact(text)
    }
}
