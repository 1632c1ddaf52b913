// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

/// Prepared calls live on the stack of their caller, for the length of a body.
extension PreparedCall {
    /// Prepares a call and lends it to the body.
    ///
    /// - Throws: `unsupported` if the operation is asynchronous or foreign.
    package static func lend(
        _ operation: ResolvedOperation,
        on instance: PluginInstance,
        watched: WatchedCaller? = nil,
        to body: (borrowing PreparedCall) throws(ConnectorError) -> Void
    ) throws(ConnectorError) {
        guard operation.answersAtOnce else {
            let reason = operation.foreign == nil ? "is asynchronous" : "may block its thread"
            throw ConnectorError(
                .unsupported,
                "\(operation.operation.name) \(reason), so its calls cannot be prepared",
                fix: "call it by name"
            )
        }
        try withExtendedLifetime((operation, watched)) { () throws(ConnectorError) in
            let watched = unsafe watched.map { unsafe Unmanaged.passUnretained($0) }
            try unsafe lend(.passUnretained(operation), on: instance, watched: watched, to: body)
        }
    }

    /// Prepares a call of an operation that answers at once and outlives the body, without counting a reference to it.
    package static func lend(
        _ operation: Unmanaged<ResolvedOperation>,
        on instance: PluginInstance,
        watched: Unmanaged<WatchedCaller>? = nil,
        to body: (borrowing PreparedCall) throws(ConnectorError) -> Void
    ) throws(ConnectorError) {
        let (shape, function) = unsafe operation._withUnsafeGuaranteedRef { unsafe ($0.layout.shape, $0.function) }
        let failure = unsafe lendAttempt(operation, shape, function, .passUnretained(instance), watched, body)
        if let failure { throw failure }
    }

    /// Lends a prepared call to the body, without counting references to what its closures capture.
    ///
    /// - Returns: The body's error.
    private static func lendAttempt(
        _ operation: Unmanaged<ResolvedOperation>,
        _ shape: CallLayout.Shape,
        _ function: UnsafeMutableRawPointer,
        _ instance: Unmanaged<PluginInstance>,
        _ watched: Unmanaged<WatchedCaller>?,
        _ body: (borrowing PreparedCall) throws(ConnectorError) -> Void
    ) -> ConnectorError? {
        unsafe withUnsafeTemporaryAllocation(byteCount: shape.frameSize, alignment: 8) { memory in
            var state = unsafe State(shape, in: memory)
            return unsafe withUnsafeMutablePointer(to: &state) { state in
                if let argument = shape.instanceArgument {
                    let pointer = unsafe instance._withUnsafeGuaranteedRef { unsafe $0.pointer }
                    unsafe state.pointee.frame.setPointer(pointer, at: argument)
                }
                let call = unsafe PreparedCall(
                    state: state,
                    inputs: shape.inputs,
                    answers: shape.answers,
                    base: state.pointee.frame.slots,
                    function: function,
                    errorArgument: shape.errorArgument,
                    keptOperation: operation,
                    keptInstance: instance,
                    keptWatched: watched
                )
                do throws(ConnectorError) {
                    try body(call)
                    return nil
                } catch {
                    return error
                }
            }
        }
    }

    /// Lends a prepared call to a body that returns a result, which takes longer than ``lend(_:on:to:)``.
    package static func with<Result>(
        _ operation: ResolvedOperation,
        on instance: PluginInstance,
        watched: WatchedCaller? = nil,
        _ body: (borrowing PreparedCall) throws(ConnectorError) -> Result
    ) throws(ConnectorError) -> Result {
        var result: Result?
        try lend(operation, on: instance, watched: watched) { call throws(ConnectorError) in result = try body(call) }
        // Without a result there was an error.
        return unsafe result.unsafelyUnwrapped
    }
}
