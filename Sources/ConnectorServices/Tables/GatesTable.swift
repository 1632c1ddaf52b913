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
                let copy = try unsafe copy(call)
                try gate.startCall(name, copy, unsafe GatesCallback(done, user: user))
                return Int32(CONNECTOR_OK)
            } catch let failure {
                return unsafe failure.redacted(by: gate.context.redactor).write(to: error)
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

    /// Copies a call from the plugin's memory, and parses its arguments.
    private static func copy(_ pointer: UnsafePointer<connector_gates_call>?) throws(ServiceFailure) -> UsedGateCall {
        let template = try unsafe GateCallTemplate(copying: pointer)
        return UsedGateCall(
            use: template.use,
            operation: template.operation,
            arguments: try arguments(template.arguments),
            deadline: template.deadline,
            during: template.during,
            size: template.arguments.count
        )
    }

    private static func arguments(_ text: [UInt8]) throws(ServiceFailure) -> JSONValue {
        guard !text.isEmpty else { return [:] }
        let value: JSONValue
        do throws(ConnectorError) {
            value = try JSONValue(parsing: text, file: "arguments")
        } catch {
            throw .invalid("the arguments are not JSON: \(error)")
        }
        guard value.object != nil || value.array != nil else {
            throw .invalid("the arguments must be an object or an array, not \(value.kind)")
        }
        return value
    }
}
