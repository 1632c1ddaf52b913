// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// Reads the parts of a sidecar that describe a foreign library.
extension JSONReader {
    /// Reads how a foreign function reports success, and checks it against the signature.
    mutating func convention(of signature: Signature, in object: JSONObject, at path: JSONPath) -> ForeignConvention {
        let name = string("status", in: object, at: path) ?? ForeignConvention.Status.none.rawValue
        let known = ForeignConvention.Status.allCases.map(\.rawValue)
        let status = ForeignConvention.Status(rawValue: name)
        if status == nil {
            report(
                .invalidValue,
                "unknown status \"\(name.excerpt)\"",
                fix: suggestion(for: name, among: known),
                at: path.appending("status")
            )
        }
        let convention = ForeignConvention(
            status: status ?? .none,
            codes: codes(in: object, at: path),
            releases: releases(of: signature, in: object, at: path)
        )
        for objection in objections(to: signature, convention) {
            report(.invalidValue, objection, at: path.appending("signature"))
        }
        return convention
    }

    private mutating func releases(of signature: Signature, in object: JSONObject, at path: JSONPath) -> [String] {
        let names = strings("releases", in: object, at: path)
        let handles = signature.parameters.filter { $0.type == .handle && $0.direction == .in }.map(\.name)
        for (index, name) in names.enumerated() where !handles.contains(name) && hasRoom() {
            report(
                .invalidValue,
                "releases names \"\(name.excerpt)\", which is not a handle that the operation takes",
                fix: suggestion(for: name, among: handles),
                at: path.appending("releases").appending(index)
            )
        }
        return names
    }

    private mutating func codes(in object: JSONObject, at path: JSONPath) -> [Int64: ConnectorError.Code] {
        var codes: [Int64: ConnectorError.Code] = [:]
        for member in self.object("codes", in: object, at: path)?.members ?? [] {
            let here = path.appending("codes").appending(member.name)
            guard let number = Int64(member.name), let name = member.value.string else {
                report(
                    .invalidValue,
                    "codes maps numbers to the names of error codes, such as \"5\": \"unavailable\"",
                    at: here
                )
                continue
            }
            let code = ConnectorError.Code(rawValue: name)
            guard code.abiStatus != nil else {
                guard hasRoom() else { continue }
                report(
                    .invalidValue,
                    "unknown error code \"\(name.excerpt)\"",
                    fix: suggestion(for: name, among: ConnectorError.Code.returnable.map(\.rawValue)),
                    at: here
                )
                continue
            }
            codes[number] = code
        }
        return codes
    }

    private func objections(to signature: Signature, _ convention: ForeignConvention) -> [String] {
        var objections: [String] = []
        if signature.isAsync { objections.append("a foreign function is never async: it runs on a worker thread") }
        if signature.results.count > 1 { objections.append("a foreign function returns at most one value") }
        let result = signature.results.first?.type
        switch convention.status {
        case .zero:
            if result != nil {
                objections.append("with the status \"zero\" the return value is the status: use out parameters")
            }
        case .null:
            if result != .handle, result != .cstring {
                objections.append("the status \"null\" needs \"-> handle\" or \"-> cstring\"")
            }
        case .negative, .errno:
            if let result, ![.i8, .i16, .i32, .i64].contains(result) {
                objections.append("the status \"\(convention.status)\" needs a signed integer as result")
            }
        case .none: break
        }
        let isLength = result.map { $0.isScalar && ![.f32, .f64, .handle].contains($0) } ?? false
        for parameter in signature.parameters where parameter.direction == .out && !parameter.type.isScalar {
            guard parameter.type != .cstring, convention.status == .zero || !isLength else { continue }
            objections.append(
                "how many bytes are in \"\(parameter.name)\" must be the result, such as \"-> i64\"; or use out cstring"
            )
        }
        if let result, !result.isScalar, result != .cstring {
            objections.append(
                "a foreign function cannot return \(result): use cstring, a number, a handle or an out buffer"
            )
        }
        return objections
    }

    /// Reads the operations that open and close a gate.
    mutating func lifecycle(
        in object: JSONObject,
        at path: JSONPath,
        isForeign: Bool,
        capabilities: [Capability]
    ) -> ForeignLifecycle? {
        guard let value = object["lifecycle"] else { return nil }
        let here = path.appending("lifecycle")
        guard isForeign else {
            report(.invalidValue, "lifecycle is for foreign libraries; a plugin has its entry function", at: here)
            return nil
        }
        guard let members = members(of: value, at: here, allowed: ["open", "close"]) else { return nil }
        let known = capabilities.flatMap(\.operations).map(\.name)
        let lifecycle = ForeignLifecycle(
            open: string("open", in: members, at: here),
            close: string("close", in: members, at: here)
        )
        for (key, name) in [("open", lifecycle.open), ("close", lifecycle.close)] {
            guard let name, !known.contains(name) else { continue }
            report(
                .invalidValue,
                "there is no operation \"\(name.excerpt)\"",
                fix: suggestion(for: name, among: known),
                at: here.appending(key)
            )
        }
        return lifecycle
    }
}
