// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import ConnectorSimulator

/// An answer that is not the vendor's, or not all of it, under a status that looks like success or blames what was sent.
enum FalseAnswer: String, Sendable, CaseIterable {
    /// The page of a captive portal.
    case portal
    /// A redirect to that page.
    case redirect
    /// Status 200 and nothing else.
    case empty
    /// Status 204.
    case noContent
    /// The first half of the true answer, unless that is a refusal: what its status says stays true.
    case truncated
    /// JSON of somebody else.
    case otherObject
    /// JSON of somebody else.
    case otherArray
    /// Text of somebody else.
    case text
    /// The vendor's own words for a failure.
    case refusal
    /// A gateway's refusal of a request that it forwards nowhere.
    case gateway
    /// A refusal in no words of anybody.
    case wordless
    /// The refusal of a server that speaks TLS.
    case tls
    /// The page of a gateway that has no server for the address.
    case nowhere

    /// The fault that makes the simulator answer so; nil where the true answer is changed.
    var fault: Fault.Answer? {
        switch self {
        case .portal: .portal
        case .empty: .empty
        case .refusal: .failure(status: 200, code: nil)
        default: nil
        }
    }

    /// What comes in place of a response.
    func applied(to response: HTTPResponse) -> HTTPResponse {
        switch self {
        case .portal, .empty, .refusal: response
        case .redirect:
            HTTPResponse(status: 302, headers: ["Location": "http://portal.example/"], body: Array("<html>".utf8))
        case .noContent where response.status == 204: response
        case .noContent: HTTPResponse(status: 204)
        case .truncated where !response.isSuccess: response
        case .truncated:
            HTTPResponse(
                status: response.status,
                headers: response.headers,
                body: Array(response.body.prefix(response.body.count / 2))
            )
        case .otherObject: other(#"{"page":"login"}"#, "application/json")
        case .otherArray: other(#"[{"page":"login"}]"#, "application/json")
        case .text: other("Sign in first", "text/plain")
        case .gateway: other(#"{"message":"no Route matched with those values"}"#, "application/json", status: 400)
        case .wordless: other("400 Bad Request", "text/plain", status: 400)
        case .tls: other("Client sent an HTTP request to an HTTPS server.\n", "text/plain", status: 400)
        case .nowhere: other("<html>\r\n<head><title>404 Not Found</title></head>", "text/html", status: 404)
        }
    }

    private func other(_ text: String, _ type: String, status: Int = 200) -> HTTPResponse {
        HTTPResponse(status: status, headers: ["Content-Type": type], body: Array(text.utf8))
    }
}

extension Fault {
    /// A fault that answers every request of a vendor.
    init(_ answer: Answer, of vendor: String) {
        self.init(vendor: vendor)
        self.answer = answer
    }
}
