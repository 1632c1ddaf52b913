// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase
internal import ConnectorDigest
internal import ConnectorInvocation

/// The requests that a recorded answer fits: the plugin's own request, before its secrets are inserted, with `*` for
/// each secret.
struct RecordedRequestMatch: Sendable, Hashable, Comparable {
    private let method: String
    private let path: String
    /// The members of `when`; empty for none.
    private let conditions: JSONObject
    /// The conditions as text, by which matches are compared.
    private let text: String

    /// The header fields that choose between answers. Others are about the connection, or are credentials.
    private static let headers: Set<String> = [
        "accept", "accept-language", "depth", "if-match", "if-modified-since", "if-none-match", "if-range",
        "if-unmodified-since", "overwrite", "prefer", "range",
    ]
    /// The longest body that is written to the file, in bytes; for a longer one, the file has its digest.
    private static let bodyLimit = 64 << 10
    /// The longest body that is compared, in bytes: a digest says something of a secret, so all of the body is searched for one first.
    static let comparedLimit = 256 << 10

    /// Describes a plugin's request.
    ///
    /// - Parameter root: The beginning of the path, which is left out.
    init(_ request: RequestTemplate, below root: String, _ texts: RecordedTexts) {
        method = request.method
        let target = texts.pattern(Self.target(request.url))
        let parts = target.split(ascii: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = Self.path(parts[0], below: root)
        var conditions = JSONObject()
        var query = JSONObject()
        for item in QueryItems(parsing: parts.count > 1 ? parts[1] : "").items where query[item.name] == nil {
            query[item.name] = .string(texts.pattern(item.value))
        }
        if !query.isEmpty { conditions["query"] = .object(query) }
        var headers = JSONObject()
        for field in request.headers.sorted(by: { $0.name.lowercased() < $1.name.lowercased() }) {
            let name = field.name.lowercased()
            guard Self.headers.contains(name), headers[name] == nil else { continue }
            headers[name] = .string(texts.pattern(field.value))
        }
        if !headers.isEmpty { conditions["headers"] = .object(headers) }
        if let body = Self.body(of: request, texts) { conditions[body.name] = body.value }
        self.conditions = conditions
        text = JSONValue.object(conditions).serialized()
    }

    /// Reads the match of a recorded answer; nil if the object is not an answer.
    init?(of answer: JSONObject) {
        guard let method = answer["method"]?.string, let path = answer["path"]?.string else { return nil }
        (self.method, self.path) = (method, path)
        conditions = answer["when"]?.object ?? JSONObject()
        text = JSONValue.object(conditions).serialized()
    }

    /// The members of the answer that say which requests get it.
    var members: [JSONObject.Member] {
        [.init(name: "method", value: .string(method)), .init(name: "path", value: .string(path))]
            + (conditions.isEmpty ? [] : [.init(name: "when", value: .object(conditions))])
    }

    static func == (one: Self, other: Self) -> Bool {
        one.method == other.method && one.path == other.path && one.text == other.text
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(method)
        hasher.combine(path)
        hasher.combine(text)
    }

    /// The first answer that fits a request is used, so those that fit more requests come later.
    static func < (one: Self, other: Self) -> Bool {
        one.line == other.line ? one.generality < other.generality : one.line < other.line
    }

    /// The sort key of the path and method. HEAD comes first, because an answer to GET fits HEAD, too. A path that fits all that another
    /// one fits has stars, and fewer other bytes.
    private var line: (Int, Int, String, String) {
        let stars = Self.stars(in: path)
        return (method == "HEAD" ? 0 : 1, stars == 0 ? .min : stars - path.utf8.count, path, method)
    }

    /// The sort key of answers to one path and method: those with fewer conditions fit more requests, and so do those with more stars.
    private var generality: (Int, Int, String) {
        let headers = conditions["headers"]?.object?.members.count ?? 0
        let hasBody = ["body", "base64", "sha256"].contains { conditions[$0] != nil }
        return (-headers - (hasBody ? 1 : 0), Self.stars(in: text), text)
    }

    private static func stars(in text: String) -> Int { text.utf8.count { $0 == UInt8(ascii: "*") } }

    /// The path and query as sent, with `*` for each secret.
    private static func target(_ url: String) -> String {
        let masked = SecretTemplate(Array(url.utf8)).masked.replacing(Secret.mask, with: "*")
        if let url = try? HTTPTarget.parse(masked) { return url.rest }
        // The scheme or the host is secret.
        let rest = masked.split(ascii: "*", omittingEmptySubsequences: false).last ?? ""
        return (try? HTTPTarget.parse("http://localhost/*\(rest)"))?.rest ?? "/*"
    }

    private static func path(_ path: Substring, below root: String) -> String {
        guard path == root || path.hasPrefix(root + "/") else { return String(path) }
        let rest = path.dropFirst(root.count)
        return rest.isEmpty ? "/" : String(rest)
    }

    /// The methods of requests that seldom have a body. An answer to one without a body fits any.
    private static let bodiless: Set<String> = ["DELETE", "GET", "HEAD", "OPTIONS"]

    /// The condition on the body; nil if any body fits: if it was not sent whole, if it is longer than what is compared, if it has a
    /// secret that no pattern can stand for, or if it is multipart and either long or not text.
    private static func body(of request: RequestTemplate, _ texts: RecordedTexts) -> JSONObject.Member? {
        let body = request.body
        guard !body.isEmpty else {
            // Of a body in parts, nothing is known here if it was not sent to its end.
            let isInParts = request.flags & CONNECTOR_HTTP_BODY_IN_PARTS != 0
            return !isInParts && !bodiless.contains(request.method) ? .init(name: "body", value: .string("")) : nil
        }
        guard body.count <= comparedLimit else { return nil }
        let text = body.count <= bodyLimit ? String(validating: body, as: UTF8.self) : nil
        let type = request.headers["Content-Type"] ?? ""
        if type.lowercased().starts(ascii: "multipart/") {
            guard let text, let boundary = boundary(in: type) else { return nil }
            return .init(name: "body", value: .string(texts.pattern(text).replacing(boundary, with: "*")))
        }
        guard let text else { return bytes(of: request, texts) }
        let masked = SecretTemplate(body).masked
        let json = try? JSONValue(parsing: Array(masked.utf8), depthLimit: JSONParser.vendorDepthLimit)
        guard let value = json, value.string == nil else {
            return .init(name: "body", value: .string(texts.pattern(text)))
        }
        return texts.pattern(value).map { .init(name: "body", value: $0) }
    }

    /// The boundary that a multipart type names (RFC 2046, section 5.1.1); most clients choose a new one for each
    /// request.
    private static func boundary(in type: String) -> String? {
        let name = "boundary="
        for parameter in type.split(ascii: ";").map({ Substring($0.utf8.drop(while: \.isBlank)) })
        where parameter.lowercased().starts(ascii: name) {
            let value = parameter.utf8.dropFirst(name.utf8.count).filter { $0 != UInt8(ascii: "\"") }
            return value.isEmpty ? nil : String(decoding: value, as: UTF8.self)
        }
        return nil
    }

    /// The condition on a body that is long or not text: its bytes or their digest, compared literally; nil if it has a
    /// secret, which a replay may replace.
    private static func bytes(of request: RequestTemplate, _ texts: RecordedTexts) -> JSONObject.Member? {
        let text = SecretTemplate(request.body).masked
        guard !text.contains(Secret.mask), texts.isClean(text) else { return nil }
        guard request.body.count > bodyLimit else {
            let base64 = Base64.encode(request.body)
            return texts.isClean(base64) ? .init(name: "base64", value: .string(base64)) : nil
        }
        return .init(name: "sha256", value: .string(SHA256Digest(of: request.body).description))
    }
}
