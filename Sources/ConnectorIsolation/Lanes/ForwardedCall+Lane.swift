// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorInvocation
internal import ConnectorManifest

/// The arguments and the answers of a call in a lane.
///
/// Both sides know the signature, so values carry no types. A scalar is a word; an optional scalar is a word that says whether it is
/// present, then its own word if it is. Bytes are a word with their count plus one, or 0 for none, then the bytes.
extension ForwardedCall {
    /// How many bytes the arguments take in a lane; nil if a lane does not carry them.
    var laneCount: Int? {
        var count = 0
        for index in unsafe layout.shape.inputs.indices {
            let input = unsafe layout.shape.inputs[index]
            guard input.type.isCarried else { return nil }
            guard input.isOptional || !isNone(input) else { return nil }
            count += 8
            if input.type.isScalar {
                if input.isOptional, !isNone(input) { count += 8 }
            } else if let bytes = unsafe arguments.bytes(of: input) {
                guard bytes.count <= CallValue.sizeLimit else { return nil }
                count += bytes.count
            }
        }
        for index in unsafe layout.shape.answers.indices {
            guard unsafe layout.shape.answers[index].type.isCarried else { return nil }
        }
        return count <= CallValue.sizeLimit ? count : nil
    }

    private func isNone(_ input: CallLayout.Location) -> Bool {
        input.type.isScalar ? unsafe arguments.scalar(of: input) == nil : unsafe arguments.bytes(of: input) == nil
    }

    /// Writes the arguments.
    func put(to stream: inout LaneStream) {
        for index in unsafe layout.shape.inputs.indices {
            let input = unsafe layout.shape.inputs[index]
            if input.type.isScalar {
                let address = unsafe arguments.scalar(of: input)
                if input.isOptional { stream.put(unsafe address == nil ? 0 : 1) }
                if let address = unsafe address { stream.put(unsafe input.type.word(at: address)) }
            } else {
                unsafe stream.put(optional: arguments.bytes(of: input))
            }
        }
    }

    /// Writes the answers where the caller wants them.
    ///
    /// - Returns: The status of the function: success, or that a buffer of the caller's is too small.
    func take(from stream: inout LaneStream) -> Int32 {
        var status = Int32(CONNECTOR_OK)
        for index in unsafe layout.shape.answers.indices {
            let output = unsafe layout.shape.answers[index]
            let word = stream.word()
            guard output.role != .scalar else {
                guard let argument = output.argument, let address = unsafe arguments.pointer(at: argument) else {
                    continue
                }
                unsafe output.type.store(word: word, at: address)
                continue
            }
            // A count beyond the rest of the message allocates nothing.
            let count = stream.count(word)
            let isWritten = unsafe arguments.write(count, to: output) { unsafe stream.take(into: $0) }
            if !isWritten {
                stream.skip(count)
                status = Int32(CONNECTOR_TOO_LARGE)
            }
        }
        if stream.rest > 0 { stream.fail() }
        if status != Int32(CONNECTOR_OK) { takeBack() }
        return status
    }

    /// Releases the answers of a call that fails after all.
    func takeBack() {
        for index in unsafe layout.shape.answers.indices { unsafe arguments.takeBack(layout.shape.answers[index]) }
    }
}

extension ValueType {
    /// Whether lanes carry values of the type. Handles are addresses, and foreign libraries' texts have no length.
    fileprivate var isCarried: Bool {
        switch self {
        case .handle, .cstring, .bytes32: false
        default: true
        }
    }
}
