// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import CConnector
internal import ConnectorBase
internal import ConnectorInvocation

/// The `gates/1` service: see services/gates.h.
package enum GatesTable {
    private static let call:
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafePointer<connector_gates_call>?, connector_gates_done?,
            UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt64>?, UnsafeMutablePointer<connector_error>?
        ) -> Int32 = { context, call, done, user, id, error in
            guard let gate = unsafe GateServices.at(context), let done = unsafe done, let id = unsafe id else {
                return unsafe ServiceFailure.misuse("null where gates/1 allows none").write(to: error)
            }
            // Tell the plugin the id before anything can complete the call and run `done`.
            let name = ServiceIdentifier.next()
            unsafe id.pointee = name
            do throws(ServiceFailure) {
                let copy = try unsafe GateCallTemplate(copying: call)
                try gate.startCall(name, copy, unsafe GatesCallback(done, user: user))
                return Int32(CONNECTOR_OK)
            } catch let failure {
                return unsafe failure.write(to: error)
            }
        }

    private static let cancel: @convention(c) (UnsafeMutableRawPointer?, UInt64) -> Void = { context, id in
        unsafe GateServices.at(context)?.completeCall(id, .failure(.cancelled("the plugin cancelled the call")))
    }

    private static let bound: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, UInt64) -> Int32 = {
        context,
        use,
        length in
        guard let gate = unsafe GateServices.at(context), let use = unsafe PluginMemory.text(use, length, limit: 64)
        else { return Int32(CONNECTOR_INVALID) }
        do throws(ServiceFailure) {
            try gate.checkUse(use)
            return Int32(CONNECTOR_OK)
        } catch {
            return error.status
        }
    }

    /// The table for one gate.
    package static func table(context: UnsafeMutableRawPointer) -> connector_gates {
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
