// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer
internal import Synchronization

/// A WebDAV server of class 1: files and collections with properties, conditions, ranges, and basic authentication.
///
/// The collections in the endpoints of the accepted credentials exist from the start, and so does `/files`. If no credentials
/// have a user name, anyone may do anything. Source: RFC 4918, RFC 9110, and the answers of WsgiDAV 4.4 and Apache 2.4.
final class WebDAVVendor: Vendor {
    static let name = "webdav"
    static let demoCredentials = ["username": "demo", "password": "demo-password"]
    static let secretKeys = ["password"]

    private let credentials: AcceptedCredentials
    private let store: Mutex<WebDAVStore>

    init(credentials: AcceptedCredentials) {
        self.credentials = credentials
        store = Mutex(WebDAVStore())
        for set in credentials.sets + [["endpoint": "http://localhost/files"]] { prepare(for: set) }
    }

    func prepare(for set: [String: String]) {
        let names = set["endpoint"].flatMap(URLParts.init)?.rest.split(ascii: "/") ?? []
        let path = names.map { ExactText(PercentCoding.decode($0)) }
        store.withLock { store in
            for count in path.indices.map({ $0 + 1 }) where store[Array(path.prefix(count))] == nil {
                store.makeCollection(Array(path.prefix(count)), at: .now)
            }
        }
    }

    static func configuration(baseURL: String) -> [String: String] {
        demoCredentials.merging(["endpoint": "\(baseURL)/files"]) { first, _ in first }
    }

    func respond(to request: SimulatedRequest) -> HTTPResponse {
        guard credentials.acceptsBasic(of: request) else {
            var response = failure(status: 401)
            response.headers["WWW-Authenticate"] = "Basic realm=\"files\""
            return response
        }
        return store.withLock { store in
            var method = WebDAVMethod(request: request, store: store)
            defer { store = method.store }
            do throws(WebDAVFailure) {
                return try method.respond()
            } catch {
                var response = failure(status: error.status, message: error.message)
                if error.status == 405 { response.headers["Allow"] = WebDAVMethod.methods }
                return response
            }
        }
    }

    func failure(status: Int?, code: String?, message: String?) -> HTTPResponse {
        let status = status ?? 500
        let text = XMLElement.escaped(message ?? code ?? HTTPReason.text(of: status))
        return HTTPResponse(
            status: status,
            text:
                #"<?xml version="1.0" encoding="utf-8"?><d:error xmlns:d="DAV:"><d:message>\#(text)</d:message></d:error>"#,
            type: "application/xml; charset=utf-8"
        )
    }
}
