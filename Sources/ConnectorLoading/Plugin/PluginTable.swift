// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import CConnector
package import ConnectorManifest

/// The checked function table of a plugin: `connector_plugin` in `connector/plugin.h`.
///
/// The table is copied, because an older plugin's table may be shorter, and a newer plugin's longer, than the one that
/// this host knows.
@safe
package struct PluginTable: Sendable {
    /// `create`
    package typealias Create =
        @convention(c) (
            UnsafePointer<connector_host>, UnsafePointer<CChar>, UInt64, UnsafeMutablePointer<UnsafeMutableRawPointer?>,
            UnsafeMutablePointer<connector_error>
        ) -> Int32
    /// `open`, `probe`, `close`
    package typealias Start =
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafePointer<connector_call>, UnsafeMutablePointer<connector_error>
        ) -> Int32
    /// `destroy`
    package typealias Destroy = @convention(c) (UnsafeMutableRawPointer?) -> Void
    /// `cancel`
    package typealias Cancel = @convention(c) (UnsafeMutableRawPointer?, UInt64) -> Void

    /// The version of the ABI that the plugin was compiled for.
    package let abiVersion: UInt32
    /// Creates an instance.
    package let create: Create
    /// Connects an instance.
    package let open: Start
    /// Proves the connection again; nil if the plugin has no probe.
    package let probe: Start?
    /// Disconnects an instance; nil if there is nothing to do.
    package let close: Start?
    /// Frees an instance.
    package let destroy: Destroy
    /// Tells an instance that a call was cancelled; nil if its calls cannot be cancelled.
    package let cancel: Cancel?
}

extension PluginTable {
    /// Creates the table of a plugin whose instances live and end elsewhere: it can cancel their calls, and do nothing
    /// else.
    package init(cancel: @escaping Cancel) {
        abiVersion = UInt32(CONNECTOR_ABI_VERSION)
        unsafe create = { _, _, _, _, _ in Int32(CONNECTOR_MISUSE) }
        unsafe open = { _, _, _ in Int32(CONNECTOR_MISUSE) }
        unsafe (probe, close) = (nil, nil)
        unsafe destroy = { _ in }
        unsafe self.cancel = cancel
    }

    /// The size of the table in version 1, which every plugin fills in.
    private static let smallestTable = 56

    /// Calls a plugin's entry function and checks the table that it returns.
    ///
    /// - Throws: `symbol-absent`, `unsupported-abi`, or `misbehaved` for a table that breaks the rules.
    package init(
        entry: String,
        of functions: PluginFunctions,
        _ code: MappedCode?,
        manifest: Manifest,
        path: String
    ) throws(ConnectorError) {
        typealias Entry = @convention(c) () -> UnsafeRawPointer?
        guard let address = unsafe functions.symbol(named: entry) else {
            let fix = Preflight.exportRemedy(of: manifest)
            throw Preflight.symbolAbsent(entry, role: "its entry function", path: path, fix: fix)
        }
        guard let table = unsafe unsafeBitCast(address, to: Entry.self)() else {
            throw Self.misbehaved(path, "its entry function \(entry.excerpt) returned null")
        }
        guard Int(bitPattern: table) % MemoryLayout<UInt>.alignment == 0 else {
            throw Self.misbehaved(path, "its entry function \(entry.excerpt) returned a table that is not aligned")
        }
        guard unsafe code?.isReadable(table, count: Self.smallestTable) ?? true else {
            throw Self.misbehaved(path, "its entry function \(entry.excerpt) returned an address that holds no table")
        }
        let size = Int(unsafe table.load(as: UInt32.self))
        guard size >= Self.smallestTable else {
            throw Self.misbehaved(path, "its table has \(size) bytes, fewer than \(Self.smallestTable)")
        }
        abiVersion = unsafe table.load(fromByteOffset: 4, as: UInt32.self)
        guard manifest.abi.contains(abiVersion) else {
            throw ConnectorError(
                .unsupportedABI,
                "\(path) was compiled for version \(abiVersion) of the ABI, but its manifest says "
                    + "\(manifest.abi.lowerBound) to \(manifest.abi.upperBound)",
                fix: "correct \"abi\" in the manifest, or compile with the headers it names"
            )
        }
        // Read raw addresses first: null in a required field must be an error, not undefined behavior.
        func function(_ offset: Int) -> UnsafeRawPointer? {
            unsafe table.load(fromByteOffset: offset, as: UnsafeRawPointer?.self)
        }
        guard let create = unsafe function(8), let open = unsafe function(16), let destroy = unsafe function(40) else {
            throw Self.misbehaved(path, "its table lacks create, open or destroy")
        }
        for (offset, name) in [
            (8, "create"), (16, "open"), (24, "probe"), (32, "close"), (40, "destroy"), (48, "cancel"),
        ] {
            guard let address = unsafe function(offset), let code, unsafe !code.isFunction(address) else { continue }
            throw Self.misbehaved(path, "\(name) in its table is not a function")
        }
        unsafe self.create = unsafeBitCast(create, to: Create.self)
        unsafe self.open = unsafeBitCast(open, to: Start.self)
        unsafe self.destroy = unsafeBitCast(destroy, to: Destroy.self)
        unsafe self.probe = unsafeBitCast(function(24), to: Start?.self)
        unsafe self.close = unsafeBitCast(function(32), to: Start?.self)
        unsafe self.cancel = unsafeBitCast(function(48), to: Cancel?.self)
    }

    private static func misbehaved(_ path: String, _ what: String) -> ConnectorError {
        ConnectorError(.misbehaved, "\(path): \(what)", fix: "correct the plugin: see connector/plugin.h")
    }
}
