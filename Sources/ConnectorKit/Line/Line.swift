// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase

/// The boundary between C and Swift, which only a plugin's generated functions call.
///
/// All the kit's unsafe code is in this folder. Its functions take the raw pointers of the C ABI and turn them into
/// values before any author's code runs. `connector/plugin.h` and `connector/operation.h` give each pointer's owner,
/// lifetime and thread class.
public enum Line {
    /// The type of `connector_plugin.create`.
    public typealias Create =
        @convention(c) (
            UnsafeRawPointer, UnsafePointer<CChar>, UInt64, UnsafeMutablePointer<UnsafeMutableRawPointer?>,
            UnsafeMutableRawPointer
        ) -> Int32
    /// The type of `connector_plugin.open`, `probe` and `close`.
    public typealias Lifecycle =
        @convention(c) (UnsafeMutableRawPointer?, UnsafeRawPointer, UnsafeMutableRawPointer) -> Int32
    /// The type of `connector_plugin.destroy`.
    public typealias Destroy = @convention(c) (UnsafeMutableRawPointer?) -> Void
    /// The type of `connector_plugin.cancel`.
    public typealias Cancel = @convention(c) (UnsafeMutableRawPointer?, UInt64) -> Void

    /// Creates the static table that a plugin's entry function returns. The table is never freed.
    public static func table(
        create: Create,
        open: Lifecycle,
        probe: Lifecycle,
        close: Lifecycle,
        destroy: Destroy,
        cancel: Cancel
    ) -> UnsafeRawPointer {
        let table = UnsafeMutablePointer<connector_plugin>.allocate(capacity: 1)
        unsafe table.initialize(
            to: connector_plugin(
                struct_size: UInt32(MemoryLayout<connector_plugin>.size),
                abi_version: CONNECTOR_ABI_VERSION,
                create: unsafeBitCast(create, to: CreateFunction.self),
                open: unsafeBitCast(open, to: CallFunction.self),
                probe: unsafeBitCast(probe, to: CallFunction.self),
                close: unsafeBitCast(close, to: CallFunction.self),
                destroy: destroy,
                cancel: cancel
            )
        )
        return UnsafeRawPointer(table)
    }

    private typealias CreateFunction =
        @convention(c) (
            UnsafePointer<connector_host>, UnsafePointer<CChar>, UInt64,
            UnsafeMutablePointer<UnsafeMutableRawPointer?>, UnsafeMutablePointer<connector_error>
        ) -> Int32
    private typealias CallFunction =
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafePointer<connector_call>, UnsafeMutablePointer<connector_error>
        ) -> Int32

    /// The status of success.
    static let ok = Int32(CONNECTOR_OK)

    // MARK: Life

    /// Creates an instance of the author's type.
    public static func create<P: Plugin>(
        _ type: P.Type,
        _ host: UnsafeRawPointer,
        _ configuration: UnsafePointer<CChar>,
        _ configurationLength: UInt64,
        _ instance: UnsafeMutablePointer<UnsafeMutableRawPointer?>,
        _ error: UnsafeMutableRawPointer?
    ) -> Int32 {
        unsafe instance.pointee = nil
        let connection = unsafe HostConnection(host.assumingMemoryBound(to: connector_host.self))
        do {
            let value = try unsafe json(configuration, configurationLength, "config")
            guard case .object(let fields) = value else {
                throw PluginError(.invalid, "config must be an object, not \(value.kind)", domain: "kit")
            }
            let services = connection.services()
            let plugin = try P(configuration: PluginConfiguration(fields), host: services)
            let made = Instance(plugin: plugin, connection: connection, clock: services.clock)
            unsafe instance.pointee = Unmanaged.passRetained(made).toOpaque()
            return Line.ok
        } catch let failure {
            // Tasks that the author has started may have kept the host.
            connection.close()
            return unsafe write(PluginError(failure), into: error)
        }
    }

    /// Frees an instance: cancels its running calls, and refuses any further calls that they make to the host.
    public static func destroy<P: Plugin>(_ type: P.Type, _ instance: UnsafeMutableRawPointer?) {
        guard let instance = unsafe instance else { return }
        let owned = unsafe Unmanaged<Instance<P>>.fromOpaque(instance).takeRetainedValue()
        owned.calls.cancelAll()
        owned.connection.close()
    }

    /// Cancels a call.
    public static func cancel<P: Plugin>(_ type: P.Type, _ instance: UnsafeMutableRawPointer?, _ operation: UInt64) {
        unsafe Instance<P>.borrowed(instance)?.calls.cancel(operation)
    }

    /// Opens the gate, and completes with evidence.
    public static func open<P: Plugin>(
        _ type: P.Type,
        _ instance: UnsafeMutableRawPointer?,
        _ call: UnsafeRawPointer,
        _ error: UnsafeMutableRawPointer?
    ) -> Int32 {
        unsafe perform(type, instance, call, error) { { try await evidence($0.open()) } }
    }

    /// Probes the vendor, and completes with evidence.
    public static func probe<P: Plugin>(
        _ type: P.Type,
        _ instance: UnsafeMutableRawPointer?,
        _ call: UnsafeRawPointer,
        _ error: UnsafeMutableRawPointer?
    ) -> Int32 {
        unsafe perform(type, instance, call, error) { { try await evidence($0.probe()) } }
    }

    /// Closes the gate, and completes without a result.
    public static func close<P: Plugin>(
        _ type: P.Type,
        _ instance: UnsafeMutableRawPointer?,
        _ call: UnsafeRawPointer,
        _ error: UnsafeMutableRawPointer?
    ) -> Int32 {
        unsafe perform(type, instance, call, error) {
            {
                await $0.close()
                return nil
            }
        }
    }

    private static func evidence(_ evidence: [Evidence]) -> [UInt8] {
        JSONValue.array(evidence.map(\.json)).utf8()
    }
}
