// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
public import ConnectorManifest

/// A described call with preallocated memory for its arguments: see ``GateClient/withPrepared(_:_:)``.
///
/// It calls one operation, known only by its signature, any number of times, each at the cost of a libffi call. Setting a number
/// is one store, and parameters keep their values between calls. The call is lent to a body; use it on one thread at a time.
@safe
public struct PreparedCall: ~Copyable {
    /// The mutable state, stored outside this value, which is only borrowed.
    @usableFromInline
    package struct State: ~Copyable {
        package var frame: CallFrame
        /// The required parameters without a value, one bit each.
        @usableFromInline package var missing: UInt64
        /// Whether the last call succeeded, so that there are answers.
        @usableFromInline package var isAnswered = false

        /// Creates the state of a call in the caller's memory; see ``CallFrame/init(_:in:)``.
        package init(_ shape: CallLayout.Shape, in memory: UnsafeMutableRawBufferPointer) {
            missing = shape.required
            unsafe frame = CallFrame(shape, in: memory)
            frame.lendBuffers()
        }
    }

    /// The operation's signature.
    public var signature: Signature { operation.operation.signature }

    @usableFromInline package let state: UnsafeMutablePointer<State>
    /// The locations of the parameters.
    @usableFromInline package let inputs: UnsafeBufferPointer<CallLayout.Location>
    /// The locations of the answers.
    @usableFromInline package let answers: UnsafeBufferPointer<CallLayout.Location>
    /// The address that the locations are relative to.
    @usableFromInline package let base: UnsafeMutableRawPointer
    /// The function to call.
    let function: UnsafeMutableRawPointer
    /// The index of the C argument for the error object.
    let errorArgument: Int?
    /// These objects outlive the lent call; reference counting would take as long as the function.
    let keptOperation: Unmanaged<ResolvedOperation>
    let keptInstance: Unmanaged<PluginInstance>
    /// What admits each call and is notified of its end, if anything.
    let keptWatched: Unmanaged<WatchedCaller>?

    private var operation: ResolvedOperation { unsafe keptOperation.takeUnretainedValue() }
    private var instance: PluginInstance { unsafe keptInstance.takeUnretainedValue() }
    private var watched: WatchedCaller? { unsafe keptWatched?.takeUnretainedValue() }

    // MARK: Arguments

    /// Sets a parameter.
    ///
    /// - Parameter index: The parameter's position among the `in` parameters.
    /// - Throws: `invalid`, with the signature, if the value has another type or is outside the parameter's range.
    @inlinable
    public func set(_ value: Int64, at index: Int) throws(ConnectorError) {
        guard let offset = unsafe inputs.offset(of: .i64, at: index) else { return try set(.integer(value), at: index) }
        unsafe base.storeBytes(of: value, toByteOffset: offset, as: Int64.self)
        unsafe state.pointee.missing &= ~(1 << UInt64(truncatingIfNeeded: index))
    }

    /// Sets a parameter.
    ///
    /// - Parameter index: The parameter's position among the `in` parameters.
    /// - Throws: `invalid`, with the signature, if the value has another type or is outside the parameter's range.
    @inlinable
    public func set(_ value: Double, at index: Int) throws(ConnectorError) {
        guard value.isFinite, let offset = unsafe inputs.offset(of: .f64, at: index) else {
            return try set(.number(value), at: index)
        }
        unsafe base.storeBytes(of: value, toByteOffset: offset, as: Double.self)
        unsafe state.pointee.missing &= ~(1 << UInt64(truncatingIfNeeded: index))
    }

    /// Sets a parameter.
    ///
    /// - Parameter index: The parameter's position among the `in` parameters.
    /// - Throws: `invalid`, with the signature, if the value has another type or is outside the parameter's range.
    @inlinable
    public func set(_ value: Int, at index: Int) throws(ConnectorError) {
        try set(Int64(value), at: index)
    }

    /// Sets a `bytes`, `string` or `json` parameter to a copy of the bytes.
    ///
    /// - Parameter index: The parameter's position among the `in` parameters.
    /// - Throws: `invalid`, with the signature, if the parameter is a number or the bytes are invalid for its type.
    public func set(_ bytes: [UInt8], at index: Int) throws(ConnectorError) {
        let location = try location(index)
        do throws(ConnectorError) {
            put(try CallValue(bytes, as: location.type), location, index)
        } catch {
            throw described(error, location)
        }
    }

    /// Sets a parameter from a JSON value.
    ///
    /// - Parameter index: The parameter's position among the `in` parameters.
    /// - Throws: `invalid`, with the signature, if the value has another type or is outside the parameter's range.
    public func set(_ value: JSONValue, at index: Int) throws(ConnectorError) {
        let location = try location(index)
        do throws(ConnectorError) {
            let isNone = value == .null && location.isOptional
            put(isNone ? .none : try CallValue(value, as: location.type, handles: instance.handles), location, index)
        } catch {
            throw described(error, location)
        }
    }

    private func put(_ value: CallValue, _ location: CallLayout.Location, _ index: Int) {
        unsafe state.pointee.frame.set(value, for: location)
        unsafe state.pointee.missing &= ~(1 << UInt64(index))
    }

    private func location(_ index: Int) throws(ConnectorError) -> CallLayout.Location {
        if unsafe inputs.indices.contains(index) { return unsafe inputs[index] }
        throw ConnectorError(
            .invalid,
            "\(operation.operation.name) takes \(unsafe inputs.count) values",
            fix: operation.usage
        )
    }

    private func described(_ error: ConnectorError, _ location: CallLayout.Location) -> ConnectorError {
        ConnectorError(
            error.code,
            "\(operation.operation.name), \(location.name): \(error.message)",
            fix: error.fix ?? operation.usage
        )
    }

    // MARK: The call

    /// Calls the operation with the current parameter values.
    ///
    /// - Throws: `invalid` if a required parameter has no value; `not-open` if the gate's circuit breaker is open; the plugin's error.
    public func callAsFunction() throws(ConnectorError) {
        guard isComplete else { throw missingValue }
        guard let watched else { return try makeCall() }
        try watched.call { () throws(ConnectorError) in try makeCall() }
    }

    private func makeCall() throws(ConnectorError) {
        unsafe state.pointee.isAnswered = false
        unsafe state.pointee.frame.resetAnswers()
        var failure: ErrorObject.Failure?
        unsafe ErrorObject.with { error in
            if let errorArgument { unsafe state.pointee.frame.setPointer(error, at: errorArgument) }
            let status = unsafe Int32(truncatingIfNeeded: state.pointee.frame.call(function))
            if status != 0 {
                failure = unsafe state.pointee.frame.readFailure(error, status, of: operation.operation.name)
            }
        }
        if let failure {
            unsafe state.pointee.frame.resetAnswers(hasFailed: true)
            throw failure.error
        }
        unsafe state.pointee.isAnswered = true
    }

    // MARK: Many calls

    /// Calls the operation a number of times.
    ///
    /// ```swift
    /// try add.batch(rows.count) { index throws(ConnectorError) in
    ///     try add.set(rows[index].first, at: 0)
    ///     try add.set(rows[index].second, at: 1)
    /// } take: { _ throws(ConnectorError) in
    ///     sums.append(try add.integer())
    /// }
    /// ```
    ///
    /// Calls to a plugin in a separate process are sent before earlier ones are answered, which takes a third of the time of single
    /// calls or less. The operation is called in order, and no call is made after one that failed. A `serial` plugin takes no other
    /// calls meanwhile. Like a single call, each may take at most 30 seconds there.
    ///
    /// - Parameters:
    ///   - count: The number of calls; none below 1.
    ///   - prepare: Sets the parameters of a call, by its number from 0: before the call, but possibly before the answers of earlier
    ///     calls are taken, and possibly more than once.
    ///   - take: Reads the answers of a call, in the order of the calls.
    /// - Throws: The first error of a call, of `prepare` or of `take`, as in a loop of single calls. In a separate process, calls
    ///   after the one whose `take` threw may have been made.
    public func batch(
        _ count: Int,
        prepare: (Int) throws(ConnectorError) -> Void,
        take: (Int) throws(ConnectorError) -> Void
    ) throws(ConnectorError) {
        var number = try forward(count, prepare, take)
        while number < count {
            try prepare(number)
            try callAsFunction()
            try take(number)
            number += 1
        }
    }

    /// Makes calls to an instance elsewhere.
    ///
    /// - Returns: How many were made.
    private func forward(
        _ count: Int,
        _ prepare: (Int) throws(ConnectorError) -> Void,
        _ take: (Int) throws(ConnectorError) -> Void
    ) throws(ConnectorError) -> Int {
        let operation = operation
        // With a circuit breaker, each call asks whether it may be made.
        guard count > 1, watched == nil, let forwarder = instance.forwarder,
            let route = forwarder.routes[operation.operation.symbol]
        else { return 0 }
        unsafe state.pointee.isAnswered = false
        unsafe state.pointee.frame.resetAnswers()
        let arguments = unsafe FunctionClosure.Arguments(state.pointee.frame.addresses)
        let call = ForwardedCall(
            position: route.position,
            name: route.name,
            layout: operation.layout,
            arguments: arguments
        )
        return try forwarder.batch(call, count) { number throws(ConnectorError) in
            try prepare(number)
            guard isComplete else { throw missingValue }
        } _: { number throws(ConnectorError) in
            unsafe state.pointee.isAnswered = true
            try take(number)
        }
    }

    /// Whether every required parameter has a value, so that a call reaches the function.
    package var isComplete: Bool { unsafe state.pointee.missing == 0 }

    private var missingValue: ConnectorError {
        let missing = unsafe state.pointee.missing
        let names = unsafe inputs.indices.filter { missing & 1 << UInt64($0) != 0 }.map { unsafe inputs[$0].name }
        return ConnectorError(
            .invalid,
            "\(operation.operation.name) needs \(names.map { "\"\($0)\"" }.joined(separator: ", "))",
            fix: operation.usage
        )
    }

    // MARK: Answers

    /// An answer of the last call, as an integer.
    ///
    /// - Parameter index: The answer's position: `out` numbers, then `out` buffers, then results.
    /// - Throws: `invalid` if the answer is not an integer that fits, or the last call did not succeed.
    @inlinable
    public func integer(at index: Int = 0) throws(ConnectorError) -> Int64 {
        guard unsafe state.pointee.isAnswered, let offset = unsafe answers.offset(of: .i64, at: index) else {
            return try slowInteger(at: index)
        }
        return unsafe base.load(fromByteOffset: offset, as: Int64.self)
    }

    /// An answer of the last call, as a number.
    ///
    /// - Parameter index: The answer's position: `out` numbers, then `out` buffers, then results.
    /// - Throws: `invalid` if the answer is not a number, or the last call did not succeed.
    @inlinable
    public func number(at index: Int = 0) throws(ConnectorError) -> Double {
        guard unsafe state.pointee.isAnswered, let offset = unsafe answers.offset(of: .f64, at: index) else {
            return try slowNumber(at: index)
        }
        return unsafe base.load(fromByteOffset: offset, as: Double.self)
    }

    /// A text or buffer answer of the last call, as bytes.
    ///
    /// - Parameter index: The answer's position: `out` numbers, then `out` buffers, then results.
    /// - Throws: `invalid` if the answer is a number, or the last call did not succeed; `misbehaved` or `too-large` if the
    ///   plugin's answer is invalid.
    public func bytes(at index: Int = 0) throws(ConnectorError) -> [UInt8] {
        guard case .bytes(let bytes) = try answer(index) else { throw mismatch(index, "bytes") }
        return bytes
    }

    /// All answers of the last call: null if there are none, the value of a single unnamed result, otherwise an object by name.
    ///
    /// - Throws: `misbehaved` if an answer does not match the signature; `invalid` if the last call did not succeed.
    public func json() throws(ConnectorError) -> JSONValue {
        guard unsafe !answers.isEmpty else { return .null }
        if unsafe answers.count == 1, unsafe answers[0].name.isEmpty {
            if unsafe answers[0].number == .i64 { return .integer(try integer()) }
            return try json(of: 0)
        }
        var object = JSONObject()
        for index in unsafe answers.indices {
            let name = unsafe answers[index].name
            object[name.isEmpty ? "result" : name] = try json(of: index)
        }
        return .object(object)
    }

    private func json(of index: Int) throws(ConnectorError) -> JSONValue {
        let value = try answer(index)
        do throws(ConnectorError) {
            return unsafe try value.json(as: answers[index].type, handles: instance.handles)
        } catch {
            throw counted(error)
        }
    }

    /// The error of reading an answer, which counts as misbehaviour if the answer breaks its type.
    private func counted(_ error: ConnectorError) -> ConnectorError {
        if error.code == .misbehaved { instance.context.misbehaved(error.message) }
        return error
    }

    @usableFromInline
    package func slowInteger(at index: Int) throws(ConnectorError) -> Int64 {
        switch try answer(index) {
        case .signed(let value): return value
        case .unsigned(let value): if let value = Int64(exactly: value) { return value }
        default: break
        }
        throw mismatch(index, "a 64-bit integer")
    }

    @usableFromInline
    package func slowNumber(at index: Int) throws(ConnectorError) -> Double {
        switch try answer(index) {
        case .floating(let value): return value
        case .signed(let value): return Double(value)
        case .unsigned(let value): return Double(value)
        default: throw mismatch(index, "a number")
        }
    }

    private func answer(_ index: Int) throws(ConnectorError) -> CallValue {
        guard unsafe state.pointee.isAnswered else {
            throw ConnectorError(.invalid, "\(operation.operation.name) has not been called, or the last call failed")
        }
        guard unsafe answers.indices.contains(index) else { throw mismatch(index, "an answer") }
        do throws(ConnectorError) {
            return unsafe try state.pointee.frame.answer(answers[index])
        } catch {
            throw counted(error)
        }
    }

    private func mismatch(_ index: Int, _ wanted: String) -> ConnectorError {
        ConnectorError(
            .invalid,
            "answer \(index) of \(operation.operation.name) is not \(wanted)",
            fix: operation.usage
        )
    }
}
