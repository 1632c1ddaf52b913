// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorManifest

/// What a vendor answers when it did what it was asked: certain statuses, and a body of a certain form.
///
/// A status alone proves nothing: a proxy or a captive portal answers 200, or redirects to 200, with a page of its own. An
/// adapter declares the answers of its vendor beside its requests, and reads every response through one of them:
///
/// ```swift
/// static let accepted = VendorAnswer("acme", [.object(#"with "success": true"#) { $0["success"] == true }])
/// …
/// let body = try AcmeRequests.accepted.body(of: response) { failure($0) }
/// ```
///
/// Be exact about what proves that the vendor did it, and indifferent to the rest: servers that speak a vendor's protocol
/// add members, and mislabel the media type.
public struct VendorAnswer: Sendable {
    private let vendor: String
    private let statuses: ClosedRange<Int>
    private let forms: [Form]

    /// Declares an answer.
    ///
    /// - Parameters:
    ///   - vendor: The domain of errors.
    ///   - statuses: The statuses that it comes with.
    ///   - forms: The bodies that it has; one of them is enough.
    public init(_ vendor: String, statuses: ClosedRange<Int> = 200...200, _ forms: [Form]) {
        self.vendor = vendor
        self.statuses = statuses
        self.forms = forms
    }

    /// One form that the body of an answer may have.
    public struct Form: Sendable {
        /// How a message calls it: `an object with "success": true`.
        let name: String
        private let kind: Kind

        private enum Kind: Sendable {
            case empty
            case text(String)
            case json(@Sendable (JSONValue) -> Bool)
        }

        /// No body at all.
        public static let empty = Form(name: "nothing", kind: .empty)

        /// Text that begins with a word, in whatever case.
        public static func text(_ word: String) -> Form {
            Form(name: "\"\(word)\"", kind: .text(word.lowercased()))
        }

        /// A JSON object.
        ///
        /// - Parameters:
        ///   - description: What is in it, for messages: `with "id"`.
        ///   - isAnswer: Whether it is the vendor's.
        public static func object(_ description: String, _ isAnswer: @escaping @Sendable (JSONValue) -> Bool) -> Form {
            Form(name: "an object \(description)", kind: .json { $0.object != nil && isAnswer($0) })
        }

        /// A JSON array whose elements are all the vendor's.
        ///
        /// - Parameters:
        ///   - description: What is in it, for messages: `of places`.
        ///   - isElement: Whether an element is the vendor's.
        public static func array(_ description: String, _ isElement: @escaping @Sendable (JSONValue) -> Bool) -> Form {
            Form(name: "an array \(description)", kind: .json { $0.array?.allSatisfy(isElement) == true })
        }

        /// The body in this form, null for what is no JSON; nil if the body has another form.
        fileprivate func read(_ response: HTTPResponse, _ json: JSONValue?) -> JSONValue? {
            switch kind {
            case .empty:
                guard response.body.isEmpty else { return nil }
                return .null
            case .text(let word):
                guard Self.begins(response, with: word) else { return nil }
                return .null
            case .json(let isAnswer):
                // A conditional expression here would take its nil for JSON's null.
                guard let json, isAnswer(json) else { return nil }
                return json
            }
        }

        /// Whether the body begins with a word in lower case.
        private static func begins(_ response: HTTPResponse, with word: String) -> Bool {
            guard response.excerpt.lowercased().hasPrefix(word) else { return false }
            let next = response.body.dropFirst(word.utf8.count).first ?? UInt8(ascii: " ")
            return !(0x61...0x7A).contains(next | 0x20)
        }
    }

    /// The body, if this is the answer; null if it is no JSON.
    ///
    /// - Parameters:
    ///   - response: What came.
    ///   - failure: What a refusal of the vendor means.
    /// - Throws: The failure for a status that is neither of 2xx nor of 3xx. Otherwise, for everything that is not the answer,
    ///   redirects included, a ``PluginError`` of status `protocolViolation` that may be tried again: whoever stands
    ///   between may be gone then.
    public func body(
        of response: HTTPResponse,
        failure: (HTTPResponse) -> PluginError
    ) throws(PluginError) -> JSONValue {
        var objection: PluginError?
        if statuses.contains(response.status) {
            var json: JSONValue?
            do throws(PluginError) {
                if !response.body.isEmpty { json = try response.json() }
            } catch {
                objection = error
            }
            for form in forms { if let body = form.read(response, json) { return body } }
        }
        guard (200..<400).contains(response.status) else { throw failure(response) }
        throw violation(response, objection)
    }

    private func violation(_ response: HTTPResponse, _ objection: PluginError?) -> PluginError {
        if response.isForeign { return response.foreignAnswer(to: vendor) }
        let expected = forms.map(\.name).joined(separator: " or ")
        let found = response.body.isEmpty ? "nothing" : "\"\(response.excerpt)\""
        // Where only JSON could be the answer, the place at which it stops being JSON says more.
        let reason = response.body.isEmpty ? nil : objection?.message
        return PluginError(
            .protocolViolation,
            reason.map { "\($0); \(vendor) answers \(expected)" }
                ?? "\(vendor) answers \(expected), not HTTP \(response.status) with \(found)",
            domain: vendor,
            detail: Int32(response.status)
        )
    }
}
