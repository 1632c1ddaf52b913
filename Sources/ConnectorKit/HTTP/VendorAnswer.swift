// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// The response that proves a vendor's success: its statuses, and the forms of its body.
///
/// A status alone proves nothing: a proxy or a captive portal returns 200, or redirects to 200, with its own page. An
/// adapter declares its vendor's answers beside its requests, and reads every response through one of them:
///
/// ```swift
/// static let accepted = VendorAnswer("acme", [.object(#"with "success": true"#) { $0["success"] == true }])
/// …
/// let body = try AcmeRequests.accepted.body(of: response) { failure($0) }
/// ```
///
/// Be exact about the proof of success and ignore the rest: servers that speak a vendor's protocol add members and
/// mislabel the media type.
///
/// Nor does a status alone prove a refusal: what answers 400, 413 or 422 may be a gateway, or a server that now speaks TLS. An adapter
/// whose vendor blames events says how it recognizes the vendor's words, so that nothing else turns events into dead letters. Without that,
/// only a JSON object counts, and none in the form of a common gateway.
///
/// What answers 404 or 410 may be a gateway without a server for the address, whose page must not read as "there is no such record". If all
/// forms of the answer are JSON, only a JSON object counts as the vendor's 404. An adapter that reports missing objects also says how it
/// recognizes the vendor's words for that.
public struct VendorAnswer: Sendable {
    private let vendor: String
    private let statuses: ClosedRange<Int>
    private let forms: [Form]
    private let isVendorsRefusal: @Sendable (HTTPResponse) -> Bool
    private let isVendorsAbsence: @Sendable (HTTPResponse) -> Bool

    /// Declares an answer.
    ///
    /// - Parameters:
    ///   - vendor: The vendor's name, which becomes the domain of errors.
    ///   - statuses: The HTTP statuses of the answer.
    ///   - forms: The accepted forms of the body.
    ///   - isRefusal: Whether an answer with status 400, 413 or 422 is the vendor's; by default, each is that is a JSON object, except in
    ///     the forms of common gateways.
    public init(
        _ vendor: String,
        statuses: ClosedRange<Int> = 200...200,
        _ forms: [Form],
        isRefusal: @escaping @Sendable (HTTPResponse) -> Bool = { VendorAnswer.isUsualRefusal($0) }
    ) {
        let isJSON = forms.allSatisfy(\.isJSON)
        self.init(
            vendor,
            statuses: statuses,
            forms,
            isRefusal: isRefusal,
            isMissing: { !isJSON || (try? $0.json())?.object != nil }
        )
    }

    /// Declares an answer of a vendor whose words for what is missing are known.
    ///
    /// - Parameters:
    ///   - vendor: The vendor's name, which becomes the domain of errors.
    ///   - statuses: The HTTP statuses of the answer.
    ///   - forms: The accepted forms of the body.
    ///   - isRefusal: As for ``init(_:statuses:_:isRefusal:)``.
    ///   - isMissing: Whether an answer with status 404 or 410 is the vendor's.
    public init(
        _ vendor: String,
        statuses: ClosedRange<Int> = 200...200,
        _ forms: [Form],
        isRefusal: @escaping @Sendable (HTTPResponse) -> Bool = { VendorAnswer.isUsualRefusal($0) },
        isMissing: @escaping @Sendable (HTTPResponse) -> Bool
    ) {
        self.vendor = vendor
        self.statuses = statuses
        self.forms = forms
        isVendorsRefusal = isRefusal
        isVendorsAbsence = isMissing
    }

    /// Whether a response is the vendor's refusal of what was sent, with status 400, 413 or 422: such an answer to a request without content
    /// can prove that the vendor is there.
    public func isRefusal(_ response: HTTPResponse) -> Bool {
        [400, 413, 422].contains(response.status) && !response.isForeign && isVendorsRefusal(response)
    }

    /// Whether a refusal may be the words of a vendor that the adapter does not know better.
    @usableFromInline
    static func isUsualRefusal(_ response: HTTPResponse) -> Bool {
        (try? response.json())?.object != nil && !response.isGatewaysRefusal
    }

    /// One form of an answer's body.
    public struct Form: Sendable {
        /// The form's name in messages: `an object with "success": true`.
        let name: String
        private let kind: Kind

        private enum Kind: Sendable {
            case empty
            case text(String)
            case json(@Sendable (JSONValue) -> Bool)
        }

        /// Whether the body is JSON.
        fileprivate var isJSON: Bool { if case .json = kind { true } else { false } }

        /// No body at all.
        public static let empty = Form(name: "nothing", kind: .empty)

        /// Text that begins with a word, in any case; a web page must have nothing else.
        public static func text(_ word: String) -> Form {
            Form(name: "\"\(word)\"", kind: .text(word.lowercased()))
        }

        /// Any JSON.
        public static let json = Form(name: "JSON", kind: .json { _ in true })

        /// A JSON object.
        ///
        /// - Parameters:
        ///   - description: The content, for messages: `with "id"`.
        ///   - isAnswer: Whether the object is the vendor's answer.
        public static func object(_ description: String, _ isAnswer: @escaping @Sendable (JSONValue) -> Bool) -> Form {
            Form(name: "an object \(description)", kind: .json { $0.object != nil && isAnswer($0) })
        }

        /// A JSON array that holds only the vendor's elements.
        ///
        /// - Parameters:
        ///   - description: The content, for messages: `of places`.
        ///   - isElement: Whether an element is the vendor's.
        public static func array(_ description: String, _ isElement: @escaping @Sendable (JSONValue) -> Bool) -> Form {
            Form(name: "an array \(description)", kind: .json { $0.array?.allSatisfy(isElement) == true })
        }

        /// The body in this form, null if it is not JSON; nil if the body has another form.
        fileprivate func read(_ response: HTTPResponse, _ json: JSONValue?) -> JSONValue? {
            switch kind {
            case .empty:
                guard response.body.isEmpty else { return nil }
                return .null
            case .text(let word):
                guard Self.begins(response, with: word) else { return nil }
                return .null
            case .json(let isAnswer):
                // In a conditional expression, `nil` would become `JSONValue.null`.
                guard let json, isAnswer(json) else { return nil }
                return json
            }
        }

        /// Whether the body begins with a word, which is given in lower case, and no letter follows.
        private static func begins(_ response: HTTPResponse, with word: String) -> Bool {
            guard response.excerpt.lowercased().hasPrefix(word) else { return false }
            let rest = response.body.dropFirst(word.utf8.count)
            // Some servers call the word alone a web page; the page of a portal goes on.
            guard !response.isPage else { return rest.allSatisfy { $0 <= 0x20 } }
            return rest.first?.isLetter != true
        }
    }

    /// Returns the body if the response is this answer; null if the body is not JSON.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - failure: Creates the error for a refusal by the vendor.
    /// - Throws: The failure for a status outside 2xx and 3xx, unless it is 400, 404, 410, 413 or 422 in words that are not the vendor's. For
    ///   any other response, redirects included, a ``PluginError`` of status `protocolViolation`, or `tooLarge` for a 413, which may be
    ///   retried: the proxy in between may be gone by then.
    public func body(
        of response: HTTPResponse,
        failure: (HTTPResponse) -> PluginError
    ) throws(PluginError) -> JSONValue {
        var problem: PluginError?
        if statuses.contains(response.status) {
            var json: JSONValue?
            do throws(PluginError) {
                if !response.body.isEmpty { json = try response.json() }
            } catch {
                problem = error
            }
            for form in forms { if let body = form.read(response, json) { return body } }
        }
        guard (200..<400).contains(response.status) else {
            throw isStrange(response) ? response.foreignAnswer(to: vendor) : failure(response)
        }
        throw violation(response, problem)
    }

    /// Whether somebody else refuses the request, or knows no server for it.
    private func isStrange(_ response: HTTPResponse) -> Bool {
        switch response.status {
        case 400, 413, 422: !isRefusal(response)
        case 404, 410: !isVendorsAbsence(response)
        default: false
        }
    }

    private func violation(_ response: HTTPResponse, _ problem: PluginError?) -> PluginError {
        if response.isForeign { return response.foreignAnswer(to: vendor) }
        var expected = forms.map(\.name).joined(separator: " or ")
        if !statuses.contains(response.status) {
            let (first, last) = (statuses.lowerBound, statuses.upperBound)
            expected = "HTTP \(first)\(first == last ? "" : " to \(last)") with \(expected)"
        }
        let found = response.body.isEmpty ? "nothing" : "\"\(response.excerpt)\""
        // If the answer must be JSON, the position of the syntax error is the better message.
        let reason = response.body.isEmpty ? nil : problem?.message
        return PluginError(
            .protocolViolation,
            reason.map { "\($0); \(vendor) answers \(expected)" }
                ?? "\(vendor) answers \(expected), not HTTP \(response.status) with \(found)",
            domain: vendor,
            detail: Int32(clamping: response.status)
        )
    }
}
