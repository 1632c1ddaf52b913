// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorIsolation
internal import ConnectorManifest
internal import ConnectorPlatform

/// The calls that arrive in a lane.
extension RunnerInstance {
    /// Makes a call on the lane's thread, and answers it.
    ///
    /// - Parameter position: The operation's position among all operations of the manifest.
    func answer(_ position: Int, _ stream: inout LaneStream) {
        // Another call may be inside a serial plugin: this one takes its turn as a message.
        guard let admission = rundown.admitNow(.typed) else {
            stream.skip()
            return stream.send(.busy)
        }
        do throws(ConnectorError) {
            try admission.lend { instance throws(ConnectorError) in
                let operation = try instance.operation(at: position)
                try CallFrame.with(operation.layout) { frame throws(ConnectorError) in
                    try frame.answer(operation, of: instance, &stream)
                }
            }
        } catch {
            stream.skip()
            stream.send(error)
        }
    }

    /// Makes the calls of a batch, up to one that fails, and answers each.
    func answerBatch(_ position: Int, _ stream: inout LaneStream) {
        guard let admission = rundown.admitNow(.typed) else { return stream.send(.busy) }
        do throws(ConnectorError) {
            try admission.lend { instance throws(ConnectorError) in
                let operation = try instance.operation(at: position)
                stream.send(.answered)
                CallFrame.with(operation.layout) { frame in
                    frame.answerBatch(operation, of: instance, &stream)
                }
            }
        } catch {
            stream.send(error)
        }
    }
}

extension CallFrame {
    /// Makes the call in the rest of a message, and answers it.
    ///
    /// - Throws: Why the call failed; nothing has been answered then.
    fileprivate mutating func answer(
        _ operation: ResolvedOperation,
        of instance: PluginInstance,
        _ stream: inout LaneStream
    ) throws(ConnectorError) {
        take(from: &stream, operation.layout)
        // Once all of it is taken: the host may give up a long message while it arrives.
        guard !stream.isWithdrawn else { throw RunnerInstance.givenUp }
        try call(operation, of: instance)
        do throws(ConnectorError) {
            try send(to: &stream, operation.layout)
        } catch {
            if error.code == .misbehaved { instance.context.misbehaved(error.message) }
            throw error
        }
    }

    fileprivate mutating func answerBatch(
        _ operation: ResolvedOperation,
        of instance: PluginInstance,
        _ stream: inout LaneStream
    ) {
        var hasFailed = false
        while stream.stop == nil {
            stream.receive()
            guard stream.word() == LaneTarget.more else { return stream.skip() }
            guard !hasFailed else {
                stream.skip()
                stream.send(.busy)
                continue
            }
            do throws(ConnectorError) {
                resetAnswers()
                try answer(operation, of: instance, &stream)
            } catch {
                hasFailed = true
                stream.skip()
                stream.send(error)
            }
        }
    }

    /// Takes the arguments; see `ForwardedCall` for their form.
    fileprivate mutating func take(from stream: inout LaneStream, _ layout: CallLayout) {
        for index in unsafe layout.shape.inputs.indices {
            let input = unsafe layout.shape.inputs[index]
            if input.isOptional, input.type.isScalar, stream.word() == 0 {
                set(.none, for: input)
                continue
            }
            let word = stream.word()
            guard !input.type.isScalar else {
                set(word: word, for: input)
                continue
            }
            guard let count = stream.optionalCount(word) else {
                set(.none, for: input)
                continue
            }
            unsafe setBytes(count, for: input) { unsafe stream.take(into: $0) }
        }
        lendBuffers()
    }

    /// Calls the operation's function.
    ///
    /// - Throws: The plugin's error.
    fileprivate mutating func call(_ operation: ResolvedOperation, of instance: PluginInstance) throws(ConnectorError) {
        if let argument = operation.layout.shape.instanceArgument { unsafe setPointer(instance.pointer, at: argument) }
        var failure: ConnectorError?
        unsafe ErrorObject.with { error in
            if let argument = operation.layout.shape.errorArgument { unsafe setPointer(error, at: argument) }
            let status = unsafe PluginCode.running(operation.function) {
                unsafe Int32(truncatingIfNeeded: call(operation.function))
            }
            if status != Int32(CONNECTOR_OK) {
                failure = unsafe readFailure(error, status, of: operation.operation.name).error
            }
        }
        if let failure {
            resetAnswers(hasFailed: true)
            throw failure
        }
    }

    /// Sends the answers.
    ///
    /// - Throws: `misbehaved` or `too-large` if one is invalid; nothing is sent then.
    fileprivate func send(to stream: inout LaneStream, _ layout: CallLayout) throws(ConnectorError) {
        var count = 8 + 8 * (unsafe layout.shape.answers.count)
        for index in unsafe layout.shape.answers.indices where unsafe layout.shape.answers[index].role != .scalar {
            count += unsafe try bytes(of: layout.shape.answers[index]).count
        }
        guard count <= FrameHeader.limit else {
            throw ConnectorError(.tooLarge, "the results have more than \(FrameHeader.limit >> 20) MiB together")
        }
        stream.begin(count: count)
        stream.put(LaneAnswer.answered.rawValue)
        for index in unsafe layout.shape.answers.indices {
            let answer = unsafe layout.shape.answers[index]
            if answer.role == .scalar {
                stream.put(word(of: answer))
            } else {
                unsafe stream.put(optional: try bytes(of: answer))
            }
        }
        stream.send()
    }
}

extension LaneStream {
    /// Sends an answer without values.
    mutating func send(_ answer: LaneAnswer) {
        begin(count: 8)
        put(answer.rawValue)
        send()
    }
}
