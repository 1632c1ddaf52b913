// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import DequeModule

/// Responses that a gate may use again: a private cache in memory, by RFC 9111.
///
/// It keeps responses of status 200 to GET that are fresh for some time (`max-age`, or `Expires`) or have a validator
/// (`ETag`, `Last-Modified`), one for each URL; when it is full, the least recently used goes first. It guesses no
/// lifetime, and never serves a stale response that the server has not confirmed.
///
/// A plugin may serve several users, so a response is reused only for the same `Authorization`, as if `Vary` named it.
package struct HTTPCache: Sendable {
    /// What the cache has for a request.
    package enum Lookup: Sendable {
        /// Nothing; the response may be stored.
        case miss
        /// A response that may be used at once.
        case fresh(HTTPResponse)
        /// A response that may be used if the server confirms it; the conditions are the request headers that ask for
        /// that.
        case stale(HTTPResponse, conditions: HTTPFields)
        /// The cache is not used for this request.
        case bypass
    }

    private struct Entry: Sendable {
        var response: HTTPResponse
        /// The request's `Authorization`, and its headers that `Vary` names.
        var selecting: [HTTPField]
        /// When it was stored, in nanoseconds on the monotonic clock.
        var storedAt: UInt64
        /// Its age when it was stored, in seconds.
        var initialAge: UInt64
        /// The age at which it becomes stale, in seconds.
        var lifetime: UInt64
        var size: Int
        /// The number of its last use; greater for a later one.
        var lastUse: UInt64

        func matches(_ request: OutgoingRequest) -> Bool {
            selecting.allSatisfy { request.headers.values($0.name) == $0.value }
        }

        /// Seconds since the server made the response.
        func age(at now: UInt64) -> UInt64 {
            let (sum, overflow) =
                initialAge
                .addingReportingOverflow((now > storedAt ? now - storedAt : 0) / 1_000_000_000)
            return overflow ? .max : sum
        }
    }

    /// The bytes that an entry costs besides its body and headers.
    private static let overhead = 512

    private let limit: Int
    private var entries: [String: Entry] = [:]
    private var size = 0
    /// The number of the last use.
    private var uses: UInt64 = 0
    /// The keys by time of use. An element whose entry was used again, or is gone, no longer means anything.
    private var order: Deque<(key: String, use: UInt64)> = []

    /// Creates an empty cache.
    ///
    /// - Parameter limit: The most bytes of all responses; 0 stores nothing.
    package init(limit: Int) {
        self.limit = limit
    }

    /// Looks a request up.
    ///
    /// - Parameters:
    ///   - now: Nanoseconds on the monotonic clock.
    ///   - mustRevalidate: Whether the server must confirm a fresh response, too.
    package mutating func lookup(_ request: OutgoingRequest, now: UInt64, mustRevalidate: Bool = false) -> Lookup {
        guard limit > 0, request.method == "GET", request.body.isEmpty, !request.isBodyInParts,
            !request.headers.contains(where: Self.isOwnCondition),
            !CacheControl(request.headers).isNotStored
        else { return .bypass }
        let key = request.url.description
        guard let entry = entries[key], entry.matches(request) else { return .miss }
        let use = use(of: key)
        entries[key]?.lastUse = use
        let control = CacheControl(request.headers)
        let age = entry.age(at: now)
        if !mustRevalidate, !control.mustRevalidate, age < min(entry.lifetime, control.maxAge ?? .max) {
            var response = entry.response
            response.headers["Age"] = "\(age)"
            return .fresh(response)
        }
        var conditions = HTTPFields()
        if let tag = entry.response.headers["ETag"] { conditions.append("If-None-Match", tag) }
        if let time = entry.response.headers["Last-Modified"] { conditions.append("If-Modified-Since", time) }
        return conditions.fields.isEmpty ? .miss : .stale(entry.response, conditions: conditions)
    }

    /// Stores a response if it may be stored; otherwise forgets the previous one.
    ///
    /// - Parameters:
    ///   - now: Nanoseconds on the monotonic clock.
    ///   - wallTime: The time of day, for a response without `Date`.
    package mutating func store(
        _ response: HTTPResponse,
        to request: OutgoingRequest,
        now: UInt64,
        wallTime: Timestamp
    ) {
        let key = request.url.description
        remove(key)
        let control = CacheControl(response.headers)
        let vary = response.headers.list("Vary")
        let selecting = (["authorization"] + vary).map { HTTPField(name: $0, value: request.headers.values($0)) }
        let size = selecting.reduce(response.size + key.utf8.count + Self.overhead) { $0 + $1.value.utf8.count }
        guard response.status == 200, !control.isNotStored, !vary.contains("*"), size <= limit else { return }
        let lifetime = response.lifetime(control, wallTime: wallTime)
        guard lifetime > 0 || response.headers["ETag"] != nil || response.headers["Last-Modified"] != nil else {
            return
        }
        let entry = Entry(
            response: response,
            selecting: selecting,
            storedAt: now,
            initialAge: response.age(wallTime: wallTime),
            lifetime: lifetime,
            size: size,
            lastUse: use(of: key)
        )
        entries[key] = entry
        self.size += size
        while self.size > limit, let (key, use) = order.popFirst() {
            if entries[key]?.lastUse == use { remove(key) }
        }
    }

    /// Refreshes a stale response that the server has confirmed (304).
    ///
    /// - Returns: The response, with the confirmation's headers.
    package mutating func confirm(
        _ response: HTTPResponse,
        by confirmation: HTTPResponse,
        of request: OutgoingRequest,
        now: UInt64,
        wallTime: Timestamp
    ) -> HTTPResponse {
        var response = response
        response.headers.remove("Age")
        for name in Set(confirmation.headers.map { $0.name.lowercased() })
        where !name.hasPrefix("content-") && name != "transfer-encoding" {
            response.headers.remove(name)
            for field in confirmation.headers where field.isNamed(name) { response.headers.fields.append(field) }
        }
        store(response, to: request, now: now, wallTime: wallTime)
        return response
    }

    /// Forgets the response of a URL, which a request has changed.
    package mutating func forget(_ url: URLParts) {
        remove(url.description)
    }

    /// Numbers a use of an entry, in constant time on average.
    private mutating func use(of key: String) -> UInt64 {
        // Half of the elements or more have no meaning.
        if order.count > 2 * entries.count + 16 { order.removeAll { entries[$0.key]?.lastUse != $0.use } }
        uses += 1
        order.append((key, uses))
        return uses
    }

    private mutating func remove(_ key: String) {
        size -= entries.removeValue(forKey: key)?.size ?? 0
    }

    /// Whether a header asks for a range, or is a condition of the plugin's own.
    private static func isOwnCondition(_ field: HTTPField) -> Bool {
        ["range", "if-none-match", "if-modified-since", "if-match", "if-unmodified-since", "if-range"]
            .contains(field.name.lowercased())
    }
}

/// The directives of `Cache-Control` that concern a private cache (RFC 9111, section 5.2).
private struct CacheControl {
    /// `no-store`.
    var isNotStored = false
    /// `no-cache`.
    var mustRevalidate = false
    /// `max-age` in seconds; 0 if it is not a number.
    var maxAge: UInt64?

    init(_ headers: HTTPFields) {
        for directive in headers.list("Cache-Control") {
            let parts = directive.split(ascii: "=", maxSplits: 1)
            switch parts.first {
            case "no-store": isNotStored = true
            case "no-cache": mustRevalidate = true
            case "max-age":
                let seconds = parts.count > 1 ? UInt64(deltaSeconds: parts[1].filter { $0 != "\"" }) ?? 0 : 0
                maxAge = min(maxAge ?? .max, seconds)
            default: break
            }
        }
    }
}

extension UInt64 {
    /// Reads a number of seconds; the largest stands for all that are larger (RFC 9111, section 1.2.2). Nil for anything but digits.
    fileprivate init?(deltaSeconds text: String) {
        guard !text.isEmpty, text.utf8.allSatisfy(\.isDigit) else { return nil }
        self = UInt64(text) ?? .max
    }
}

extension HTTPResponse {
    /// The bytes that it occupies.
    fileprivate var size: Int {
        headers.reduce(body.count) { $0 + $1.name.utf8.count + $1.value.utf8.count + 64 }
    }

    /// Its age on arrival, in seconds (RFC 9111, section 4.2.3).
    fileprivate func age(wallTime: Timestamp) -> UInt64 {
        let date = headers["Date"].flatMap { Timestamp(httpDate: $0) } ?? wallTime
        let apparent = wallTime > date ? (wallTime.nanoseconds - date.nanoseconds) / 1_000_000_000 : 0
        return max(apparent, headers["Age"].flatMap { UInt64(deltaSeconds: $0) } ?? 0)
    }

    /// How long it is fresh, in seconds.
    fileprivate func lifetime(_ control: CacheControl, wallTime: Timestamp) -> UInt64 {
        if control.mustRevalidate { return 0 }
        if let seconds = control.maxAge { return seconds }
        guard let expires = headers["Expires"].flatMap({ Timestamp(httpDate: $0) }) else { return 0 }
        let date = headers["Date"].flatMap { Timestamp(httpDate: $0) } ?? wallTime
        return expires > date ? (expires.nanoseconds - date.nanoseconds) / 1_000_000_000 : 0
    }
}

extension HTTPFields {
    /// The values of all fields of a name, joined by commas.
    fileprivate func values(_ name: String) -> String {
        filter { $0.isNamed(name) }.map(\.value).joined(separator: ",")
    }

    /// The elements of a list that may be spread over fields (RFC 9110, section 5.6.1), in lower case.
    fileprivate func list(_ name: String) -> [String] {
        filter { $0.isNamed(name) }.flatMap { $0.value.utf8.split(separator: UInt8(ascii: ",")) }
            .map { String(decoding: $0.lazy.filter { !$0.isBlank }.map(\.lowercased), as: UTF8.self) }
            .filter { !$0.isEmpty }
    }
}
