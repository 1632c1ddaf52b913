// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorInvocation
internal import ConnectorManifest
internal import ConnectorServices
internal import Synchronization

/// Calls connectors on behalf of the plugins that use them.
///
/// The gates need it before the tree that contains them exists, so the host connects it afterwards.
final class UsedConnectors: Sendable {
    /// Calls an operation of a bound connector, and returns its result as JSON.
    typealias Call =
        @Sendable (BoundUse, _ operation: String, CallArguments, CallOptions) async throws(ConnectorError) -> [UInt8]

    private struct Routes {
        var call: Call
        var opened: @Sendable (_ path: String) -> Void
    }

    private let tree = Mutex<Routes?>(nil)

    /// Directs calls to a tree, which the closures must refer to weakly.
    ///
    /// - Parameters:
    ///   - opened: Called with the path of a gate that has opened.
    ///   - call: Calls a connector.
    func connect(opened: @escaping @Sendable (_ path: String) -> Void, _ call: @escaping Call) {
        tree.withLock { $0 = Routes(call: call, opened: opened) }
    }

    /// Tells the gates that use a gate that it has opened.
    func opened(_ path: String) {
        tree.withLock(\.self)?.opened(path)
    }

    /// The gates that a plugin uses; nil if its manifest has no uses.
    ///
    /// - Parameters:
    ///   - declared: The uses in the manifest.
    ///   - uses: The uses that are bound to connectors.
    func gates(
        _ declared: [GateUse],
        _ uses: [BoundUse],
        of path: String,
        _ calls: CallDependencies
    ) -> UsedGates? {
        guard !declared.isEmpty else { return nil }
        let bound = uses.map(\.use.name)
        let unbound = declared.map(\.name).filter { !bound.contains($0) }
        return UsedGates(bound, unbound: unbound) { [self] call in
            let template = call.template
            do throws(ConnectorError) {
                guard let use = uses.first(where: { $0.use.name == template.use }), let tree = tree.withLock(\.self)
                else {
                    var closed = ConnectorError.hostClosed
                    closed.connector = path
                    throw closed
                }
                var options = CallOptions()
                // The thread is not the plugin's, but one of the cooperative pool.
                options.keepsTimeout = true
                if template.deadline < .max {
                    let now = calls.clock.now()
                    options.timeoutNanoseconds = template.deadline - min(now, template.deadline)
                }
                let arguments =
                    call.arguments.array.map { CallArguments(positional: $0) }
                    ?? CallArguments(call.arguments.object ?? JSONObject())
                return .success(try await tree.call(use, template.operation, arguments, options))
            } catch {
                return .failure(ServiceFailure(error))
            }
        }
    }
}
