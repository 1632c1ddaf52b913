// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
internal import ConnectorHTTPServer

/// A deliberate fault of a simulated vendor, to test how clients handle it.
///
/// Its text form is `TARGET:SETTING,SETTING…`, for example `segment:status=503,times=2,retry-after=1`, `kinto:slow=2s`,
/// `google:reset` or `*:status=500`. The target is a vendor's name or `*` for all of them. `\,` is a comma within a setting.
///
/// | setting | meaning |
/// |---|---|
/// | `status=CODE` | answer that status, with the body this vendor sends along with it |
/// | `code=CODE` | the vendor's own error code in that body, for instance `OVER_QUERY_LIMIT` |
/// | `reset` | reset the connection without an answer |
/// | `truncated` | announce the whole answer, send half of it, close |
/// | `garbage` | answer 200 with bytes that are not JSON |
/// | `portal` | answer 200 with the web page of a captive portal; the vendor sees nothing of the request |
/// | `empty` | answer 200 without a body; the vendor sees nothing of the request |
/// | `slow=DURATION` | wait first, `500ms` or `2s`; on its own, the vendor's answer follows |
/// | `header=NAME:VALUE` | add a header field to the answer, whatever it is |
/// | `retry-after=SECONDS` | the same as `header=Retry-After:SECONDS` |
/// | `times=N` | only the first N requests that match; without it, always |
/// | `method=NAME` | only requests with that verb |
/// | `path=PREFIX` | only requests whose path below the vendor's root begins with that |
public struct Fault: Sendable, Equatable {
    /// The answer to send instead of the vendor's.
    public enum Answer: Sendable, Equatable {
        /// The vendor's answer, possibly delayed or with additional header fields.
        case unchanged
        /// One of the vendor's errors, by HTTP status and by the vendor's code.
        case failure(status: Int?, code: String?)
        /// No answer; the connection is reset.
        case reset
        /// The beginning of the vendor's answer.
        case truncated
        /// Bytes that are not JSON, under status 200.
        case garbage
        /// The page of a captive portal, under status 200.
        case portal
        /// An empty body, under status 200.
        case empty
    }

    /// The longest wait before an answer.
    static let longestDelay: Duration = .seconds(3600)

    /// The vendor that the fault applies to; `nil` for all.
    public var vendor: String?
    /// The answer to send.
    public var answer: Answer = .unchanged
    /// The wait before the answer; an hour at most counts.
    public var delay: Duration = .zero
    /// The header fields to add to the answer.
    public var headers: HTTPFields = [:]
    /// The number of matching requests to apply it to; `nil` for all, and none if it is not positive.
    public var times: Int?
    /// The only HTTP method it applies to, in upper case; `nil` for all.
    public var method: String?
    /// The prefix of the paths it applies to; `nil` for all.
    public var path: String?

    /// Creates a fault of `vendor`, or of every vendor, that has no effect until its properties are set.
    public init(vendor: String? = nil) {
        self.vendor = vendor
    }

    /// Whether the fault applies to a request, regardless of how often it has been applied.
    func matches(_ request: SimulatedRequest, of vendor: String) -> Bool {
        (self.vendor ?? vendor) == vendor
            && (method.map(request.isFor(method:)) ?? true)
            && (path.map { request.path.hasPrefix($0) } ?? true)
    }
}
