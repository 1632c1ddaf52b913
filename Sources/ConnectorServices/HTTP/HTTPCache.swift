// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// Responses that a gate may use again: a private cache in memory, by RFC 9111.
///
/// It keeps responses of status 200 to GET that are fresh for some time (`max-age`, or `Expires`) or have a validator
/// (`ETag`, `Last-Modified`), one for each URL; when it is full, those go first that were not used for the longest time.
/// It guesses no lifetime, and never serves what is stale.
package struct HTTPCache: Sendable {
    /// What the cache has for a request.
    package enum Lookup: Sendable {
        /// Nothing; the response may be stored.
        case miss
        /// A response that may be used at once.
        case fresh(HTTPResponse)
        /// A response that may be used if the server confirms it, which these headers of the request ask for.
        case stale(HTTPResponse, conditions: HTTPFields)
        /// The request or its response is none for a cache.
        case bypass
    }

    private struct Entry: Sendable {
        var response: HTTPResponse
        /// The request's headers that `Vary` names.
        var selecting: [HTTPField]
        /// On the monotonic clock.
        var storedAt: UInt64
        /// Its age when it was stored, in seconds.
        var initialAge: UInt64
        /// The age in seconds from which on it is stale.
        var lifetime: UInt64
        var size: Int
        /// Greater for a later use.
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

    /// What an entry costs besides its body and its header.
    private static let overhead = 512

    private let limit: Int
    private var entries: [String: Entry] = [:]
    private var size = 0
    private var uses: UInt64 = 0

    /// Creates an empty cache.
    ///
    /// - Parameter limit: The most bytes of all responses; 0 stores nothing.
    package init(limit: Int) {
        self.limit = limit
    }

    /// Looks a request up.
    ///
    /// - Parameter now: Nanoseconds on the monotonic clock.
    package mutating func lookup(_ request: OutgoingRequest, now: UInt64) -> Lookup {
        guard limit > 0, request.method == "GET", request.body.isEmpty, !request.isBodyInParts,
            !request.headers.contains(where: Self.isOwnCondition),
            !CacheControl(request.headers).isNotStored
        else { return .bypass }
        let key = request.url.description
        guard var entry = entries[key], entry.matches(request) else { return .miss }
        uses += 1
        entry.lastUse = uses
        entries[key] = entry
        let control = CacheControl(request.headers)
        let age = entry.age(at: now)
        if !control.mustRevalidate, age < min(entry.lifetime, control.maxAge ?? .max) {
            var response = entry.response
            response.headers["Age"] = "\(age)"
            return .fresh(response)
        }
        var conditions = HTTPFields()
        if let tag = entry.response.headers["ETag"] { conditions.append("If-None-Match", tag) }
        if let time = entry.response.headers["Last-Modified"] { conditions.append("If-Modified-Since", time) }
        return conditions.fields.isEmpty ? .miss : .stale(entry.response, conditions: conditions)
    }

    /// Stores a response, if it may be stored; otherwise forgets the one before.
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
        let size = response.size + key.utf8.count + Self.overhead
        guard response.status == 200, !control.isNotStored, !vary.contains("*"), size <= limit else { return }
        let lifetime = response.lifetime(control, wallTime: wallTime)
        guard lifetime > 0 || response.headers["ETag"] != nil || response.headers["Last-Modified"] != nil else {
            return
        }
        uses += 1
        let entry = Entry(
            response: response,
            selecting: vary.map { HTTPField(name: $0, value: request.headers.values($0)) },
            storedAt: now,
            initialAge: response.age(wallTime: wallTime),
            lifetime: lifetime,
            size: size,
            lastUse: uses
        )
        entries[key] = entry
        self.size += size
        while self.size > limit, let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse })?.key {
            remove(oldest)
        }
    }

    /// Takes the server's confirmation (304) of a stale response.
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

    private mutating func remove(_ key: String) {
        size -= entries.removeValue(forKey: key)?.size ?? 0
    }

    /// The plugin asks for a part, or makes its own comparison.
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
            let parts = directive.split(separator: "=", maxSplits: 1)
            switch parts.first {
            case "no-store": isNotStored = true
            case "no-cache": mustRevalidate = true
            case "max-age":
                let seconds = parts.count > 1 ? UInt64(parts[1].filter { $0 != "\"" }) ?? 0 : 0
                maxAge = min(maxAge ?? .max, seconds)
            default: break
            }
        }
    }
}

extension HTTPResponse {
    /// The bytes that it occupies.
    fileprivate var size: Int {
        headers.reduce(body.count) { $0 + $1.name.utf8.count + $1.value.utf8.count + 64 }
    }

    /// Its age when it came, in seconds (RFC 9111, section 4.2.3).
    fileprivate func age(wallTime: Timestamp) -> UInt64 {
        let date = headers["Date"].flatMap { Timestamp(httpDate: $0) } ?? wallTime
        let apparent = wallTime > date ? (wallTime.nanoseconds - date.nanoseconds) / 1_000_000_000 : 0
        return max(apparent, headers["Age"].flatMap { UInt64($0) } ?? 0)
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
    /// The values of all fields of a name, as one.
    fileprivate func values(_ name: String) -> String {
        filter { $0.isNamed(name) }.map(\.value).joined(separator: ",")
    }

    /// The elements of a list that may be spread over fields (RFC 9110, section 5.6.1), in lower case.
    fileprivate func list(_ name: String) -> [String] {
        filter { $0.isNamed(name) }.flatMap { $0.value.split(separator: ",") }
            .map { String($0.lowercased().filter { $0 != " " && $0 != "\t" }) }.filter { !$0.isEmpty }
    }
}
