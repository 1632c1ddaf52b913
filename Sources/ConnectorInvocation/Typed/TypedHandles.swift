// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest
internal import Synchronization

/// The typed handles of a gate that an application holds, by the operations that they call.
///
/// A handle calls whatever function has its operation's name, without looking at the signature again. So a plugin whose operation has
/// another signature must not take the place of one whose handles are held.
package final class TypedHandles: Sendable {
    private struct State {
        var counts: [String: Int] = [:]
        /// The manifests of the plugins that a reload may put in each other's place; empty if there is none.
        var expected: [Manifest] = []
    }

    private let state = Mutex(State())

    /// Creates a value without handles.
    package init() {}

    /// One handle, as long as it is referenced.
    final class Entry: Sendable {
        private let handles: TypedHandles
        private let name: String

        init(_ handles: TypedHandles, _ name: String) {
            (self.handles, self.name) = (handles, name)
        }

        deinit { handles.remove(name) }
    }

    /// Registers a handle.
    ///
    /// - Returns: Nil if a plugin that is about to take over has another signature.
    func add(_ name: String, _ signature: Signature) -> Entry? {
        let isAdded = state.withLock { state in
            guard state.expected.allSatisfy({ $0.offersTyped(name, signature) }) else { return false }
            state.counts[name, default: 0] += 1
            return true
        }
        return isAdded ? Entry(self, name) : nil
    }

    private func remove(_ name: String) {
        state.withLock { state in
            let count = (state.counts[name] ?? 1) - 1
            state.counts[name] = count > 0 ? count : nil
        }
    }

    /// Admits only handles that fit all of several plugins, until ``settle()``.
    ///
    /// - Parameter manifests: Of the plugin that is in use, to which the gate may go back, and of the one to take over.
    /// - Returns: How many handles there are, by the names of their operations.
    package func expect(_ manifests: [Manifest]) -> [String: Int] {
        state.withLock { state in
            state.expected = manifests
            return state.counts
        }
    }

    /// Ends what ``expect(_:)`` began.
    package func settle() {
        state.withLock { $0.expected = [] }
    }
}

extension Manifest {
    /// Whether a typed handle may call an operation: it has the handle's signature, and is no function of a foreign
    /// library, which has another C type.
    package func offersTyped(_ name: String, _ signature: Signature) -> Bool {
        guard let found = operation(named: name)?.operation else { return false }
        return found.signature == signature && found.foreign == nil
    }
}
