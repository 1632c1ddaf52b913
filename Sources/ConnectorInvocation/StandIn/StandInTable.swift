// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase
internal import ConnectorManifest

/// The function table of a plugin that a stand-in replaces.
enum StandInTable {
    private typealias Instance = UnsafeMutableRawPointer?
    private typealias Start =
        @convention(c) (Instance, UnsafePointer<connector_call>, UnsafeMutablePointer<connector_error>) -> Int32

    /// Makes the entry function, which returns a table of functions that create and use instances of the stand-in.
    static func makeEntry(_ standIn: StandIn) throws(ConnectorError) -> UInt {
        let create = try FunctionClosure.make(
            try layout("(host: handle, config: string, instance: handle, error: handle) -> i32")
        ) { [weak standIn] arguments in
            // The function exists until the process ends, the stand-in only as long as its plugin.
            guard let standIn, let host = unsafe arguments.pointer(at: 0),
                let instance = unsafe arguments.pointer(at: 3)
            else { return UInt64(CONNECTOR_MISUSE) }
            let made = unsafe StandInInstance(
                standIn,
                host: UnsafePointer(host.assumingMemoryBound(to: connector_host.self))
            )
            unsafe instance.storeBytes(of: Unmanaged.passRetained(made).toOpaque(), as: UnsafeMutableRawPointer?.self)
            return UInt64(CONNECTOR_OK)
        }
        let size = MemoryLayout<connector_plugin>.size
        // Never freed: the host keeps a plugin's table for as long as the process.
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 8)
        unsafe bytes.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        unsafe bytes.storeBytes(of: UInt32(size), as: UInt32.self)
        unsafe bytes.storeBytes(of: UInt32(CONNECTOR_ABI_VERSION), toByteOffset: 4, as: UInt32.self)
        unsafe bytes.storeBytes(of: create, toByteOffset: 8, as: UInt.self)
        unsafe bytes.storeBytes(of: prove, toByteOffset: 16, as: Start.self)
        unsafe bytes.storeBytes(of: prove, toByteOffset: 24, as: Start.self)
        unsafe bytes.storeBytes(of: destroy, toByteOffset: 40, as: (@convention(c) (Instance) -> Void).self)
        unsafe bytes.storeBytes(of: cancel, toByteOffset: 48, as: (@convention(c) (Instance, UInt64) -> Void).self)
        let address = UInt(bitPattern: bytes)
        return try FunctionClosure.make(try layout("() -> handle")) { _ in UInt64(address) }
    }

    /// The layout of a function outside the conventions of operations.
    private static func layout(_ signature: String) throws(ConnectorError) -> CallLayout {
        try CallLayout(Signature(parsing: signature), isForeign: true, returnsValue: true)
    }

    private static let prove: Start = { instance, call, _ in
        unsafe StandInInstance.at(instance)?.prove(call.pointee.operation)
        return Int32(CONNECTOR_OK)
    }

    private static let destroy: @convention(c) (Instance) -> Void = { instance in
        guard let instance = unsafe instance else { return }
        unsafe Unmanaged<StandInInstance>.fromOpaque(instance).takeRetainedValue().end()
    }

    private static let cancel: @convention(c) (Instance, UInt64) -> Void = { instance, operation in
        unsafe StandInInstance.at(instance)?.cancel(operation)
    }
}
