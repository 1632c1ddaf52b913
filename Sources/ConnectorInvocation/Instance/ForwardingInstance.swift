// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
package import ConnectorBase
internal import ConnectorLoading
package import ConnectorManifest

/// Stands in for a remote instance in typed and prepared calls: functions with the C types of the manifest's signatures, which
/// forward each call.
package final class ForwardingInstance: Sendable {
    /// The instance lent to typed and prepared calls. It has no life cycle: that belongs to the instance to which it forwards.
    package let instance: PluginInstance

    /// Makes the functions.
    ///
    /// - Parameters:
    ///   - context: The context of the remote instance, to which the calls belong.
    ///   - exchange: Makes a call that is answered at once, while its thread waits; nil if it cannot, so `call` makes it.
    ///   - batch: Makes many calls of an operation that answers at once, with one frame, and sends each before earlier ones are
    ///     answered: sets the parameters of a call by its number, reads its answers from the frame, and returns how many calls were
    ///     made, counted from the first.
    ///   - call: Calls an operation by its name, and awaits the answer until a deadline in monotonic time.
    /// - Throws: `unsupported` if this system does not let a process make code.
    package init(
        _ manifest: Manifest,
        dependencies: CallDependencies,
        context: HostContext,
        services: any InstanceServices,
        exchange: @escaping @Sendable (ForwardedCall) throws(ConnectorError) -> Int32?,
        batch:
            @escaping @Sendable (
                ForwardedCall, _ count: Int, _ prepare: (Int) throws(ConnectorError) -> Void,
                _ take: (Int) throws(ConnectorError) -> Void
            ) throws(ConnectorError) -> Int,
        _ call:
            @escaping @Sendable (_ name: String, CallArguments, CallOptions, UInt64)
            async throws(ConnectorError) -> CallResult
    ) throws(ConnectorError) {
        var (described, functions, routes) = (manifest, [String: UInt](), [String: Forwarder.Route]())
        for index in manifest.capabilities.indices {
            let capability = manifest.capabilities[index]
            for (place, operation) in capability.operations.enumerated() {
                // If two capabilities have an operation of this name, the bare name means the first one's.
                let isFirst = manifest.operation(named: operation.name)?.operation == operation
                let label = manifest.capabilities.label(of: operation.name, in: capability.id)
                let name = isFirst ? operation.name : label
                // Operations may share a symbol; each has a function of its own here, and a symbol that no other one has.
                let symbol = "\(capability.id)/\(operation.name)"
                let position = routes.count
                functions[symbol] = try ForwardingFunction.address(of: operation, as: name, at: position)
                routes[symbol] = Forwarder.Route(position: position, name: name)
                described.capabilities[index].operations[place].symbol = symbol
            }
        }
        let plugin = unsafe Plugin(
            manifest: described,
            path: manifest.id,
            functions: .linked(LinkedPlugin(manifest: [], functions: functions)),
            table: PluginTable { instance, operation in
                guard let instance = unsafe instance else { return }
                unsafe Unmanaged<Forwarder>.fromOpaque(instance).takeUnretainedValue().cancel(operation)
            }
        )
        let forwarder = Forwarder(
            dependencies,
            owner: context.owner,
            routes: routes,
            exchange: exchange,
            batch: batch,
            call
        )
        instance = PluginInstance(
            forwarding: plugin,
            to: forwarder,
            dependencies: dependencies,
            context: context,
            services: services
        )
    }
}
