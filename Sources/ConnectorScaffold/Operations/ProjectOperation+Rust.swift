// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

extension ProjectOperation {
    /// The method in Rust.
    var rust: String {
        let parameters = parameters.map { ", \($0.name): \(Self.rustType($0))" }.joined()
        let type = result.map(Self.rustType) ?? "()"
        var lines = ["    /// \(documentation)"]
        lines.append("    async fn \(snakeName)(&self\(parameters)) -> Result<\(type), Error> {")
        lines.append("        let url = Url::new(&self.endpoint).path(\"\(name)\")" + (query.isEmpty ? ";" : ""))
        for (index, parameter) in query.enumerated() {
            let end = index == query.count - 1 ? ";" : ""
            lines.append("            .\(Self.rustQuery(parameter))\(end)")
        }
        var request = "self.host.\(method.lowercased())(url)"
        if let content {
            request +=
                content.type == .json
                ? ".json(&\(content.name))" : ".body(\"\(contentType ?? "")\", \(content.name))"
            request += ".verbatim()"
        }
        switch result {
        case .json: lines.append("        self.fetch(\(request)).await")
        case nil: lines.append("        self.fetch(\(request)).await.map(|_| ())")
        default: lines.append("        self.send(\(request)).await.map(|response| response.body)")
        }
        lines.append("    }")
        return lines.joined(separator: "\n")
    }

    /// The operation's line in `connector::plugin!`.
    ///
    /// - Parameter plugin: The plugin's name as an identifier.
    func rustExport(_ plugin: String) -> String {
        let parameters = parameters.map { "\($0.name): \(Self.rustType($0))" }.joined(separator: ", ")
        let result = result.map { " -> \(Self.rustType($0))" } ?? ""
        return "async fn \(plugin)_\(name)(\(parameters))\(result) = Adapter::\(snakeName);"
    }

    private static func rustType(_ type: ValueType) -> String {
        switch type {
        case .json: "Json"
        case .bytes: "Vec<u8>"
        case .string: "String"
        default: type.rawValue
        }
    }

    private static func rustType(_ parameter: Signature.Parameter) -> String {
        let type = rustType(parameter.type)
        return parameter.isOptional ? "Option<\(type)>" : type
    }

    private static func rustQuery(_ parameter: Signature.Parameter) -> String {
        let name = parameter.name
        switch (parameter.type == .string, parameter.isOptional) {
        case (true, false): return "query(\"\(name)\", &\(name))"
        case (true, true): return "optional_query(\"\(name)\", \(name).as_deref())"
        case (false, false): return "query(\"\(name)\", &\(name).to_string())"
        case (false, true): return "optional_query(\"\(name)\", \(name).map(|value| value.to_string()).as_deref())"
        }
    }
}
