// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// Checks which operations share a function.
extension JSONReader {
    /// Reports the operations whose symbol names a function with another C type, so that a call of one of them would crash.
    ///
    /// Two operations may share a function that fits both if the manifest writes the symbol of one. Operations that share one only by
    /// default must have equal signatures: one `deliver` cannot tell the events of analytics/1 from the reports of crash/1.
    mutating func checkSymbols(
        of capabilities: [Capability],
        in manifest: JSONObject,
        entry: String,
        at path: JSONPath
    ) {
        var functions: [String: (name: String, signature: Signature, isWritten: Bool)] = [:]
        for capability in capabilities {
            let id = "\(capability.id)"
            for operation in capability.operations {
                let name = "\(capability.id) \(operation.name)"
                let isWritten = manifest["capabilities"]?[id]?[operation.name]?["symbol"] != nil
                let other: String
                if operation.symbol == entry {
                    other = "the entry"
                } else if let first = functions[operation.symbol] {
                    let isShared =
                        isWritten || first.isWritten
                        ? first.signature.prototype == operation.signature.prototype
                        : first.signature == operation.signature
                    guard !isShared else { continue }
                    other = first.name
                } else {
                    functions[operation.symbol] = (name, operation.signature, isWritten)
                    continue
                }
                guard hasRoom() else { continue }
                let place = path.appending("capabilities").appending(id).appending(operation.name)
                report(
                    .invalidValue,
                    "\(name) and \(other) share the symbol \"\(operation.symbol.excerpt)\", but not the signature",
                    fix: "give \(name) a symbol of its own",
                    at: isWritten ? place.appending("symbol") : place,
                    isWritten ? .value : .name
                )
            }
        }
    }
}

extension Signature {
    /// The signature without what the function's C type does not show (`connector/operation.h`): names, the kinds of text,
    /// whether a pointer may be null, and the result of an asynchronous operation.
    fileprivate var prototype: Signature {
        var prototype = self
        prototype.parameters = parameters.map { parameter in
            var parameter = parameter
            parameter.name = ""
            if parameter.type == .json { parameter.type = .string }
            if parameter.type == .handle || !parameter.type.isScalar { parameter.isOptional = false }
            return parameter
        }
        prototype.results = isAsync ? [] : results.map { Result(name: nil, type: $0.type.isScalar ? $0.type : .bytes) }
        return prototype
    }
}
