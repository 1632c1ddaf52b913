// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorManifest

extension PluginInstance {
    /// Calls an operation that answers at once, on this thread.
    func callNow(
        _ operation: ResolvedOperation,
        _ values: [CallValue]
    ) throws(ConnectorError) -> [CallOutput] {
        try CallFrame.with(operation.interface) { frame throws(ConnectorError) in
            frame.set(values, of: operation.interface)
            frame.lendBuffers()
            var failure: ErrorObject.Failure?
            unsafe ErrorObject.with { error in
                let status = unsafe self.run(operation, frame, call: nil, error: error)
                if status != 0 { failure = unsafe ErrorObject.read(error, status, operation.operation.name) }
            }
            if let failure { throw failure.error }
            return try frame.takeAnswers(of: operation.interface)
        }
    }

    /// Starts an operation that completes later; a refusal completes it here.
    func start(_ operation: ResolvedOperation, _ values: [CallValue], id: UInt64, deadline: UInt64) {
        var call = connector_call(operation: id, deadline: deadline)
        unsafe ErrorObject.with { error in
            let status = unsafe withUnsafePointer(to: &call) { call in
                guard !operation.takesTexts else {
                    return unsafe TextOperation.call(
                        operation.function,
                        instance: pointer,
                        call: call,
                        texts: values,
                        error: error
                    )
                }
                return CallFrame.with(operation.interface) { frame in
                    frame.set(values, of: operation.interface)
                    return unsafe self.run(operation, frame, call: call, error: error)
                }
            }
            if status != Int32(CONNECTOR_OK) { unsafe refuse(id, status, error, operation.operation.name) }
        }
    }

    /// Ends a call that the plugin did not take on.
    func refuse(_ id: UInt64, _ status: Int32, _ error: UnsafePointer<connector_error>, _ name: String) {
        let failure = unsafe ConnectorError(status: status, error: error.pointee, attempting: name)
        guard operations.complete(id, owner: context.owner, .failure(failure)) == .unknown else { return }
        context.misbehaved("refused \(name), which was over by then")
    }

    private func run(
        _ operation: ResolvedOperation,
        _ frame: borrowing CallFrame,
        call: UnsafePointer<connector_call>?,
        error: UnsafeMutablePointer<connector_error>
    ) -> Int32 {
        let places = unsafe operation.interface.plan.pointee.frame
        if let place = places.instance { unsafe frame.setPointer(pointer, at: place) }
        if let place = places.call { unsafe frame.setPointer(call, at: place) }
        if let place = places.error { unsafe frame.setPointer(error, at: place) }
        return unsafe Int32(truncatingIfNeeded: frame.call(operation.function))
    }
}
