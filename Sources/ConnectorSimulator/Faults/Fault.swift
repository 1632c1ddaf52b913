// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
internal import ConnectorHTTPServer

/// A deliberate fault of a simulated vendor, for testing a client against it.
///
/// Written as text it reads `TARGET:SETTING,SETTING…`, for instance `segment:status=503,times=2,retry-after=1`,
/// `kinto:slow=2s`, `google:reset` or `*:status=500`. The target is a vendor's name or `*` for all of them.
///
/// | setting | meaning |
/// |---|---|
/// | `status=CODE` | answer that status, with the body this vendor sends along with it |
/// | `code=CODE` | the vendor's own error code in that body, for instance `OVER_QUERY_LIMIT` |
/// | `reset` | reset the connection without an answer |
/// | `truncated` | announce the whole answer, send half of it, close |
/// | `garbage` | answer 200 with bytes that are no JSON |
/// | `portal` | answer 200 with the web page of a captive portal; the vendor sees nothing of the request |
/// | `empty` | answer 200 without a body; the vendor sees nothing of the request |
/// | `slow=DURATION` | wait first, `500ms` or `2s`; alone, the true answer follows |
/// | `header=NAME:VALUE` | add a header field to whichever answer it is |
/// | `retry-after=SECONDS` | the same as `header=Retry-After:SECONDS` |
/// | `times=N` | only the first N requests that match; without it, always |
/// | `method=NAME` | only requests with that verb |
/// | `path=PREFIX` | only requests whose path below the vendor's root begins so |
public struct Fault: Sendable, Equatable {
    /// The answer in place of the vendor's true one.
    public enum Answer: Sendable, Equatable {
        /// The vendor's true answer, perhaps late or with more header fields.
        case unchanged
        /// An error of the vendor's, by HTTP status and by the vendor's own code.
        case failure(status: Int?, code: String?)
        /// No answer; the connection is reset.
        case reset
        /// The beginning of the true answer.
        case truncated
        /// Bytes that are not JSON, under status 200.
        case garbage
        /// The page of a captive portal, under status 200.
        case portal
        /// An empty body, under status 200.
        case empty
    }

    /// The vendor that misbehaves; `nil` for all.
    public var vendor: String?
    /// The answer to send.
    public var answer: Answer = .unchanged
    /// The wait before the answer.
    public var delay: Duration = .zero
    /// The header fields to add to the answer.
    public var headers: HTTPFields = [:]
    /// The number of matching requests it applies to; `nil` for all.
    public var times: Int?
    /// The only verb it applies to, in upper case; `nil` for all.
    public var method: String?
    /// The beginning of the paths it applies to; `nil` for all.
    public var path: String?

    /// A fault of `vendor`, or of every vendor, that changes nothing yet.
    public init(vendor: String? = nil) {
        self.vendor = vendor
    }

    /// Whether the fault covers a request, regardless of how often it has applied.
    func matches(_ request: SimulatedRequest, of vendor: String) -> Bool {
        (self.vendor ?? vendor) == vendor
            && (method ?? request.method) == request.method
            && (path.map { request.path.hasPrefix($0) } ?? true)
    }
}
