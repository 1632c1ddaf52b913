// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector

/// The `gates/1` service: see services/gates.h.
enum GatesTable {
    private static let call:
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafePointer<connector_gates_call>?, connector_gates_done?,
            UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt64>?, UnsafeMutablePointer<connector_error>?
        ) -> Int32 = { context, call, done, user, id, error in
            unsafe ServiceTables.answer(context, error) { services throws(ServiceFailure) in
                guard let done = unsafe done, let id = unsafe id else {
                    throw .misuse("null where gates/1 allows none")
                }
                // Tell the plugin the id before anything can complete the call and run `done`.
                let name = services.newIdentifier()
                unsafe id.pointee = name
                let copy = try unsafe GateCallTemplate(copying: call)
                try services.startCall(name, copy, unsafe GatesCallback(done, user: user))
            }
        }

    private static let cancel: @convention(c) (UnsafeMutableRawPointer?, UInt64) -> Void = { context, id in
        unsafe ServiceTables.at(context)?.cancelCall(id)
    }

    private static let bound: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, UInt64) -> Int32 = {
        context,
        use,
        length in
        guard let services = unsafe ServiceTables.at(context),
            let use = unsafe PluginMemory.text(use, length, limit: 64)
        else { return Int32(CONNECTOR_INVALID) }
        do throws(ServiceFailure) {
            try services.checkUse(use)
            return Int32(CONNECTOR_OK)
        } catch {
            return error.status
        }
    }

    /// The table for one instance.
    static func table(_ context: UnsafeMutableRawPointer) -> connector_gates {
        unsafe connector_gates(
            struct_size: UInt32(MemoryLayout<connector_gates>.size),
            flags: 0,
            context: context,
            call: fitting(call),
            cancel: fitting(cancel),
            bound: fitting(bound)
        )
    }
}
