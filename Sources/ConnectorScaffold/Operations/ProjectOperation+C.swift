// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

/// Writes operations in C and C++, whose exported functions have the same parameters.
extension ProjectOperation {
    /// The function in C.
    ///
    /// - Parameter plugin: The plugin's name as an identifier.
    func c(_ plugin: String) -> String {
        var lines = [
            "/* \(documentation) */", prototype(plugin) + " {", "    const adapter *self = instance;",
            "    const connector_exchange exchange = {NULL, 0, answered, \"\(resultName)\"};",
            "    connector_text url = {NULL, 0, 0, 0};", "    connector_text_base(&url, self->endpoint);",
            "    connector_text_put(&url, \"/\(name)\");",
        ]
        lines += query.map { parameter in
            let (name, variable) = (parameter.name, Self.variable(parameter))
            guard parameter.type.unsigned != nil else {
                return "    connector_text_query(&url, \"\(name)\", \(variable), (size_t)\(name)_length);"
            }
            let condition = parameter.isOptional ? "if (\(variable) != NULL) " : ""
            return "    \(condition)connector_text_query_number(&url, \"\(name)\", \(Self.value(parameter)));"
        }
        let body =
            content.map { "\"\(contentType ?? "")\", \(Self.variable($0)), \($0.name)_length" } ?? "NULL, NULL, 0"
        lines += [
            "    return send_request(self, call_borrowed, \"\(method)\", &url, \(body), exchange, error);", "}",
        ]
        return lines.joined(separator: "\n")
    }

    /// The function in C++.
    ///
    /// - Parameter plugin: The plugin's name as an identifier.
    func cpp(_ plugin: String) -> String {
        var lines = [
            "/* \(documentation) */", prototype(plugin) + " {",
            "    return connector::perform<Adapter>(instance, call_borrowed, error, [&](Adapter &self, Call call) {",
            "        Text url = self.url(\"/\(name)\");",
        ]
        lines += query.map { parameter in
            let (name, variable) = (parameter.name, Self.variable(parameter))
            guard parameter.type.unsigned != nil else {
                return "        url.query(\"\(name)\", \(variable), \(name)_length);"
            }
            let condition = parameter.isOptional ? "if (\(variable) != nullptr) " : ""
            return "        \(condition)url.query(\"\(name)\", \(Self.value(parameter)));"
        }
        let body = content.map {
            "{\"\(contentType ?? "")\", {\(Self.text($0)), static_cast<std::size_t>(\($0.name)_length)}}"
        }
        lines += [
            "        self.send(std::move(call), \"\(method)\", std::move(url), \(body ?? "{}"), Adapter::\(resultName));",
            "    });", "}",
        ]
        return lines.joined(separator: "\n")
    }

    /// The word for the result: in C the note of an exchange, in C++ a function of the class `Adapter`.
    private var resultName: String { result?.rawValue ?? "nothing" }

    private func prototype(_ plugin: String) -> String {
        let start = "CONNECTOR_EXPORT int32_t \(plugin)_\(name)("
        let parameters =
            ["void *instance", "const connector_call *call_borrowed"] + parameters.flatMap(Self.declarations)
            + ["connector_error *error"]
        // Wrap before column 120, and align with the first parameter.
        var lines = [start]
        for (index, parameter) in parameters.enumerated() {
            let part = parameter + (index < parameters.count - 1 ? "," : ")")
            let isFirst = index == 0
            if !isFirst, lines[lines.count - 1].count + part.count > 117 {
                lines.append(String(repeating: " ", count: start.count) + part)
            } else {
                lines[lines.count - 1] += (isFirst ? "" : " ") + part
            }
        }
        return lines.joined(separator: "\n")
    }

    private static func declarations(_ parameter: Signature.Parameter) -> [String] {
        if let bits = parameter.type.unsigned {
            return [
                parameter.isOptional ? "const uint\(bits)_t *\(variable(parameter))" : "uint\(bits)_t \(parameter.name)"
            ]
        }
        let type = parameter.type == .bytes ? "uint8_t" : "char"
        return ["const \(type) *\(variable(parameter))", "uint64_t \(parameter.name)_length"]
    }

    private static func variable(_ parameter: Signature.Parameter) -> String {
        parameter.type.unsigned != nil && !parameter.isOptional ? parameter.name : "\(parameter.name)_borrowed"
    }

    private static func value(_ parameter: Signature.Parameter) -> String {
        (parameter.isOptional ? "*" : "") + variable(parameter)
    }

    private static func text(_ parameter: Signature.Parameter) -> String {
        parameter.type == .bytes
            ? "reinterpret_cast<const char *>(\(variable(parameter)))" : variable(parameter)
    }
}
