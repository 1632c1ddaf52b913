// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorManifest

/// An operation of a project's plugin, which makes one HTTP request: `POST /NAME`, or `GET /NAME` if it only reads and has no content.
///
/// A JSON or bytes argument is the content; every other argument goes into the query. The answer's body is the result.
struct ProjectOperation: Sendable {
    /// The name that calls use, which is also the path.
    let name: String
    /// The signature as its definition writes it.
    let signature: String
    /// One sentence for readers.
    let documentation: String
    /// Whether a call only reads.
    let isSafe: Bool
    /// The arguments in the query, in order: strings and unsigned integers.
    let query: [Signature.Parameter]
    /// The argument that is the request's content; nil for none.
    let content: Signature.Parameter?
    /// Every argument, in order.
    let parameters: [Signature.Parameter]
    /// The type of the result, JSON or bytes; nil for none.
    let result: ValueType?

    /// The operations that one request can carry out, of a standard capability or of the project's own.
    static func all(of capability: CapabilityID) -> [ProjectOperation] {
        guard let definition = CapabilityDefinition.standard(capability) else {
            return [ProjectOperation("get", "(key: string) async -> json", "The value of an item.", isSafe: true)]
                .compactMap(\.self)
        }
        return definition.operations.compactMap {
            ProjectOperation($0.name, $0.signature, $0.documentation, isSafe: $0.isSafe)
        }
    }

    /// Nil for an operation without parameters and results, such as `flush`, or one that a single request cannot carry
    /// out.
    private init?(_ name: String, _ text: String, _ documentation: String, isSafe: Bool) {
        guard let signature = try? Signature(parsing: text), signature.isAsync,
            !signature.parameters.isEmpty || !signature.results.isEmpty,
            signature.parameters.allSatisfy({ $0.direction == .in })
        else { return nil }
        let contents = signature.parameters.filter { $0.type.isContent }
        let query = signature.parameters.filter { $0.type == .string || $0.type.unsigned != nil }
        guard contents.count <= 1, !contents.contains(where: \.isOptional),
            query.count + contents.count == signature.parameters.count,
            signature.results.allSatisfy({ $0.type.isContent })
        else { return nil }
        self.name = name
        self.signature = text
        self.documentation = documentation
        self.isSafe = isSafe
        self.query = query
        content = contents.first
        parameters = signature.parameters
        result = signature.results.first?.type
    }

    /// The method of the request.
    var method: String { isSafe && content == nil ? "GET" : "POST" }

    /// The media type of the content; nil for none.
    var contentType: String? {
        content.map { $0.type == .json ? "application/json" : "application/octet-stream" }
    }

    /// The operation's entry in a manifest.
    ///
    /// - Parameter plugin: The plugin's name as an identifier.
    func manifested(_ plugin: String) -> JSONObject {
        var object: JSONObject = [
            "symbol": .string("\(plugin)_\(name)"), "signature": .string(signature),
            "documentation": .string(documentation),
        ]
        if isSafe { object["safe"] = true }
        return object
    }

    /// The name in snake case, such as `create_upload`.
    var snakeName: String {
        name.reduce(into: "") { $0 += $1.isUppercase ? "_" + $1.lowercased() : String($1) }
    }
}

extension ValueType {
    /// Whether a value of this type is the content of a request or an answer.
    fileprivate var isContent: Bool { self == .json || self == .bytes }

    /// The width of an unsigned integer in bits; nil for any other type.
    var unsigned: Int? {
        switch self {
        case .u8: 8
        case .u16: 16
        case .u32: 32
        case .u64: 64
        default: nil
        }
    }
}
