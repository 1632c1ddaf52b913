// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer
internal import Synchronization

/// A Kinto server below `/v1/`: buckets, collections, groups and records, batches, and basic authentication.
///
/// The buckets named by the accepted credentials exist from the start; collections do not, as on a real server. The
/// bucket `default` is personal to the user, and its collections are created on first use. Of the patches, those of
/// RFC 6902 (`application/json-patch+json`) are refused with 501. Source: Kinto's protocol, and the answers of Kinto
/// 26.5 to the same requests.
final class KintoVendor: Vendor {
    static let name = "kinto"
    static let demoCredentials = ["bucket": "demo", "username": "demo", "password": "demo-password"]
    static let secretKeys = ["password"]

    /// The credentials that the server accepts.
    let credentials: AcceptedCredentials
    /// The stored objects.
    let store: Mutex<KintoStore>

    init(credentials: AcceptedCredentials) {
        self.credentials = credentials
        store = Mutex(KintoStore())
        for set in credentials.sets { prepare(for: set) }
    }

    func prepare(for set: [String: String]) {
        guard let bucket = set["bucket"], KintoPath.isValid(bucket), bucket != "default" else { return }
        let permissions = Self.permissions(of: set["username"] ?? "demo")
        store.withLock { store in
            guard store.object(bucket, in: "/buckets") == nil else { return }
            _ = store.put(JSONObject(), permissions: permissions, id: bucket, in: "/buckets", now: .now)
        }
    }

    static func configuration(baseURL: String) -> [String: String] {
        demoCredentials.merging(["endpoint": "\(baseURL)/v1"]) { first, _ in first }
    }

    func respond(to request: SimulatedRequest) -> HTTPResponse {
        do {
            return try route(request)
        } catch {
            return error.response
        }
    }

    /// Routes a request by its path.
    private func route(_ request: SimulatedRequest) throws(KintoFailure) -> HTTPResponse {
        let path = request.components
        guard path.first == "v1" else {
            guard path.isEmpty || path[0] == "buckets" else { throw .unknownPath }
            return redirect(to: "/v1" + request.path, request)
        }
        if path.count == 1, !request.path.hasSuffix("/") { return redirect(to: "/v1/", request) }
        if path.count > 1, request.path.hasSuffix("/") { return redirect(to: String(request.path.dropLast()), request) }
        switch path.dropFirst().first {
        case nil: return try root(request)
        case "__lbheartbeat__": return HTTPResponse(json: [:])
        case "__heartbeat__":
            return HTTPResponse(json: ["storage": true, "permission": true, "cache": true])
        case "__version__":
            return HTTPResponse(json: ["name": "kinto", "version": "26.5.0", "source": "simulator"])
        case "batch" where path.count == 2: return try batch(request)
        default: break
        }
        let user = try authenticate(request)
        let bucket = Self.personalBucket(of: user)
        guard let parsed = KintoPath(Array(path.dropFirst()), defaultBucket: bucket) else { throw .unknownPath }
        for id in parsed.parents + [parsed.id].compactMap({ $0 }) where !KintoPath.isValid(id) {
            throw .invalid("path: Invalid object id", location: "path", name: nil, description: "Invalid object id")
        }
        return try store.withLock { store throws(KintoFailure) in
            if path.count > 2, path[2] == "default" {
                Self.prepare(parsed, bucket: bucket, user: user, in: &store, now: request.receivedAt)
            }
            var resource = KintoResource(request: request, path: parsed, user: user, store: store)
            defer { store = resource.store }
            return try resource.respond()
        }
    }

    /// The server's description and the client's identity.
    private func root(_ request: SimulatedRequest) throws(KintoFailure) -> HTTPResponse {
        guard request.method == "GET" else { throw .method(allowed: "GET, HEAD, OPTIONS") }
        var document: JSONObject = [
            "project_name": "kinto", "project_version": "26.5.0", "http_api_version": "1.23",
            "project_docs": "https://kinto.readthedocs.io/", "url": .string("\(request.baseURL)/v1/"), "config": nil,
            "settings": ["batch_max_requests": 25, "explicit_permissions": true, "readonly": false],
        ]
        if let user = try? authenticate(request) {
            document["user"] = [
                "id": .string("account:\(user)"),
                "principals": [.string("account:\(user)"), "system.Authenticated", "system.Everyone"],
                "bucket": .string(Self.personalBucket(of: user)),
            ]
        }
        document["capabilities"] = [
            "default_bucket": [
                "description": "The default bucket is an alias for a personal bucket.",
                "url": "https://kinto.readthedocs.io/en/latest/api/1.x/buckets.html#personal-bucket-default",
            ]
        ]
        return HTTPResponse(json: .object(document))
    }

    /// The name of the user; throws if the credentials are missing or wrong.
    private func authenticate(_ request: SimulatedRequest) throws(KintoFailure) -> String {
        guard let given = request.basicCredentials,
            credentials.accepts(["username": given.username, "password": given.password])
        else { throw .unauthorized }
        return given.username
    }

    /// Redirects to another path for the same object.
    private func redirect(to path: String, _ request: SimulatedRequest) -> HTTPResponse {
        let query = request.query.items.isEmpty ? "" : "?\(request.query.encoded)"
        return HTTPResponse(
            status: 307,
            headers: ["Location": "\(request.baseURL)\(path)\(query)", "Cache-Control": "max-age=3600"],
            body: Array("<html><head><title>307 Temporary Redirect</title></head></html>".utf8)
        )
    }

    /// Creates the user's personal bucket and its collection on first use.
    private static func prepare(
        _ path: KintoPath,
        bucket: String,
        user: String,
        in store: inout KintoStore,
        now: Timestamp
    ) {
        let permissions = permissions(of: user)
        if store.object(bucket, in: "/buckets") == nil {
            _ = store.put(JSONObject(), permissions: permissions, id: bucket, in: "/buckets", now: now)
        }
        let collections = "/buckets/\(bucket)/collections"
        guard path.parents.count == 2, store.object(path.parents[1], in: collections) == nil else { return }
        _ = store.put(JSONObject(), permissions: permissions, id: path.parents[1], in: collections, now: now)
    }

    /// The permissions of a user on objects that the user created.
    static func permissions(of user: String) -> JSONObject {
        ["write": [.string("account:\(user)")]]
    }

    /// The id of a user's personal bucket, derived from the name.
    private static func personalBucket(of user: String) -> String {
        // Two FNV-1a hashes, formatted as a UUID.
        let hashes = [user, user + "\u{0}"].map { text in
            text.utf8.reduce(14_695_981_039_346_656_037 as UInt64) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
        }
        let bytes = hashes.flatMap { hash in (0..<8).map { UInt8(truncatingIfNeeded: hash >> ($0 * 8)) } }
        let digits = bytes.hexadecimal
        return [8, 4, 4, 4, 12].reduce(into: (text: "", rest: Substring(digits))) { result, count in
            result.text += (result.text.isEmpty ? "" : "-") + result.rest.prefix(count)
            result.rest = result.rest.dropFirst(count)
        }.text
    }

    func failure(status: Int?, code: String?, message: String?) -> HTTPResponse {
        if code == "122" && (status ?? 409) == 409 || code == nil && status == 409 {
            var failure = KintoFailure.rolledBack
            failure.message = message ?? failure.message
            return failure.response
        }
        let status = status ?? 500
        let usual: (errno: Int64, message: String) =
            switch status {
            case 401: (104, "Please authenticate yourself to use this endpoint.")
            case 403: (121, "This user cannot access this resource.")
            case 404: (111, "The resource you are looking for could not be found.")
            case 410: (202, "Version of this service is deprecated.")
            case 413: (113, "Request body exceeds limit.")
            case 429: (117, "Client has sent too many requests.")
            case 503: (201, "Service temporary unavailable due to overloading or maintenance, please retry later.")
            case 400..<500: (107, HTTPReason.text(of: status))
            default: (999, "A programmatic error occurred, developers have been informed.")
            }
        let errno = code.flatMap { Int64($0) } ?? usual.errno
        return KintoFailure(status: status, errno: errno, message: message ?? usual.message).response
    }
}
