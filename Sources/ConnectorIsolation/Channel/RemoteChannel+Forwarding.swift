// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorInvocation
internal import ConnectorManifest
internal import Synchronization

/// Typed and prepared calls: those that are answered at once go through a lane, the others travel like calls by name.
extension RemoteChannel {
    /// The functions that forward calls to the runner. A function that answers at once blocks its caller meanwhile.
    package func forwardingInstance() throws(ConnectorError) -> PluginInstance {
        guard !isForeign else {
            throw ConnectorError(
                .unsupported,
                "\(manifest.id) is a foreign library in a separate process, so its functions cannot be called directly",
                fix: "call the operation by name"
            )
        }
        return try forwarding.withLock { forwarding throws(ConnectorError) in
            if let forwarding { return forwarding.instance }
            let number = state.withLock(\.number)
            let made = try ForwardingInstance(
                manifest,
                dependencies: dependencies,
                context: context,
                services: services,
                exchange: { [weak self] call throws(ConnectorError) in
                    guard let self else { throw ConnectorError(.notOpen, "the gate has closed") }
                    return try exchange(call, with: number)
                },
                batch: { [weak self] call, count, prepare, take throws(ConnectorError) in
                    guard let self else { throw ConnectorError(.notOpen, "the gate has closed") }
                    return try exchange(call, count, with: number, prepare, take)
                }
            ) { [weak self] name, arguments, options, deadline throws(ConnectorError) in
                guard let self else { throw ConnectorError(.notOpen, "the gate has closed") }
                return try await call(name, arguments, options, by: deadline)
            }
            forwarding = made
            return made.instance
        }
    }
}
