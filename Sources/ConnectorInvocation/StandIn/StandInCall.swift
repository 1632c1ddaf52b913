// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase
internal import ConnectorManifest

/// Calls that reach a stand-in through the C function of an operation.
enum StandInCall {
    /// The layout of an operation's function.
    ///
    /// - Throws: `unsupported` for a signature with handles or C strings, which are addresses of the plugin's own.
    static func layout(of operation: Operation) throws(ConnectorError) -> CallLayout {
        let signature = operation.signature
        let types = signature.parameters.map(\.type) + signature.results.map(\.type)
        guard !types.contains(where: { [.handle, .cstring, .bytes32].contains($0) }) else {
            throw ConnectorError(
                .unsupported,
                "\(operation.name)\(signature) cannot be simulated: it passes addresses, which only a plugin can make",
                fix: "use string or bytes in place of cstring and bytes32, or simulate the vendor with \"answers\""
            )
        }
        return try CallLayout(signature)
    }

    /// Makes the function of an operation.
    ///
    /// - Parameter label: The operation as `capability/operation`.
    /// - Throws: `unsupported` if this system does not let a process make code.
    static func makeFunction(
        of operation: Operation,
        _ label: String,
        _ layout: CallLayout
    ) throws(ConnectorError) -> UInt {
        try FunctionClosure.make(layout) { arguments in
            UInt64(bitPattern: Int64(call(operation, label, layout, arguments)))
        }
    }

    /// Answers a call; the status of the function.
    private static func call(
        _ operation: Operation,
        _ label: String,
        _ layout: CallLayout,
        _ arguments: FunctionClosure.Arguments
    ) -> Int32 {
        guard let index = layout.shape.instanceArgument,
            let instance = unsafe StandInInstance.at(arguments.pointer(at: index))
        else { return Int32(CONNECTOR_MISUSE) }
        let answer: StandIn.Answer
        do throws(ConnectorError) {
            answer = instance.standIn.answer(label, try values(of: arguments, layout))
        } catch {
            answer = StandIn.Answer(.failure(error))
        }
        if let index = layout.callArgument {
            guard let call = unsafe arguments.pointer(at: index)?.load(as: connector_call.self) else {
                return Int32(CONNECTOR_MISUSE)
            }
            let outcome = answer.result.flatMap { value in text(value, of: operation, writtenAt: answer.place) }
            instance.complete(call.operation, after: answer.delay, outcome)
            return Int32(CONNECTOR_OK)
        }
        do throws(ConnectorError) {
            return try write(try answer.result.get(), of: operation, writtenAt: answer.place, layout, arguments)
        } catch {
            if let index = layout.shape.errorArgument, let object = unsafe arguments.pointer(at: index) {
                unsafe object.storeBytes(of: connector_error(error), as: connector_error.self)
            }
            return error.code.status
        }
    }

    /// The arguments of a call by name; those without a value are absent.
    private static func values(
        of arguments: FunctionClosure.Arguments,
        _ layout: CallLayout
    ) throws(ConnectorError) -> JSONObject {
        var values = JSONObject()
        for index in unsafe layout.shape.inputs.indices {
            let input = unsafe layout.shape.inputs[index]
            let value = arguments.value(of: input)
            if case .none = value { continue }
            values[input.name] = try value.json(as: input.type, handles: nil)
        }
        return values
    }

    // MARK: Answers

    /// The text with which an asynchronous operation completes; nil if it has no result.
    private static func text(
        _ value: JSONValue,
        of operation: Operation,
        writtenAt place: FilePosition?
    ) -> Result<[UInt8]?, ConnectorError> {
        guard let type = operation.signature.results.first?.type else { return .success(nil) }
        return Result { () throws(ConnectorError) in
            guard case .bytes(let bytes) = try fitted(value, type, of: operation, writtenAt: place) else { return nil }
            return bytes
        }
    }

    /// Writes the outputs of an operation that returns at once.
    private static func write(
        _ value: JSONValue,
        of operation: Operation,
        writtenAt place: FilePosition?,
        _ layout: CallLayout,
        _ arguments: FunctionClosure.Arguments
    ) throws(ConnectorError) -> Int32 {
        if let problem = operation.signature.problem(withAnswer: value) {
            throw misfit(problem, of: operation, writtenAt: place)
        }
        // Nothing is written before everything fits: a failed call leaves no memory behind.
        var values: [CallValue] = []
        for index in unsafe layout.shape.answers.indices {
            let output = unsafe layout.shape.answers[index]
            let given = operation.signature.answerKey(of: output.name).map { value[$0] ?? .null } ?? value
            values.append(try fitted(given, output.type, of: operation, writtenAt: place))
        }
        return arguments.write(values, layout)
    }

    /// A result as the signature's type.
    ///
    /// - Throws: `invalid` if it does not fit.
    private static func fitted(
        _ value: JSONValue,
        _ type: ValueType,
        of operation: Operation,
        writtenAt place: FilePosition?
    ) throws(ConnectorError) -> CallValue {
        do throws(ConnectorError) {
            return try CallValue(value, as: type, handles: nil)
        } catch {
            throw misfit(error.message, of: operation, writtenAt: place)
        }
    }

    /// The error of an answer that does not fit, with the remedy in its message, because the C ABI carries no other text.
    private static func misfit(
        _ problem: String,
        of operation: Operation,
        writtenAt place: FilePosition?
    ) -> ConnectorError {
        let answer = place.map { "the answer at \($0)" } ?? "the answer"
        return ConnectorError(
            .invalid,
            "\(answer) does not fit \(operation.name)\(operation.signature): \(problem); correct its \"result\""
        )
    }
}
