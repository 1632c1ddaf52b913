// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

extension ProjectOperation {
    /// The method in Swift.
    var swift: String {
        let parameters = parameters.map { "\($0.name): \(Self.swiftType($0))" }.joined(separator: ", ")
        let type = result.map { " -> \(Self.swiftType($0))" } ?? ""
        var url = "endpoint.appending(\"\(name)\")"
        for parameter in query {
            let (name, optional) = (parameter.name, parameter.isOptional)
            let value = parameter.type == .string ? name : optional ? "\(name).map { \"\\($0)\" }" : "\"\\(\(name))\""
            url += ".with(\"\(name)\", \(value))"
        }
        var request = ".\(method.lowercased()), url"
        if let content {
            request +=
                content.type == .json
                ? ", json: \(content.name)"
                : ", headers: [\"Content-Type\": \"\(contentType ?? "")\"], body: \(content.name)"
        }
        let call =
            switch result {
            case .bytes: "return try await load"
            case nil: "_ = try await fetch"
            default: "return try await fetch"
            }
        return """
                /// \(documentation)
                func \(name)(\(parameters)) async throws\(type) {
                    let url = \(url)
                    \(call)(HTTPRequest(\(request)))
                }
            """
    }

    private static func swiftType(_ type: ValueType) -> String {
        switch type {
        case .json: "JSONValue"
        case .bytes: "[UInt8]"
        case .string: "String"
        default: type.rawValue.replacing("u", with: "UInt")
        }
    }

    private static func swiftType(_ parameter: Signature.Parameter) -> String {
        swiftType(parameter.type) + (parameter.isOptional ? "?" : "")
    }
}
