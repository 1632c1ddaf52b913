// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorManifest

/// A misbehaviour that a simulated vendor shows on purpose, so that a client can be tried against it.
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
    /// What is sent instead of the vendor's true answer.
    public enum Answer: Sendable, Equatable {
        /// Nothing instead: the vendor answers, late or with more header fields.
        case unchanged
        /// An error of the vendor's, by HTTP status and by the vendor's own code.
        case failure(status: Int?, code: String?)
        /// No answer; the connection is reset.
        case reset
        /// The beginning of the true answer.
        case truncated
        /// Bytes that are no JSON, under status 200.
        case garbage
        /// The page that a captive portal answers everything with, under status 200.
        case portal
        /// Nothing, under status 200.
        case empty
    }

    /// The vendor it belongs to; `nil` for all.
    public var vendor: String?
    /// What is sent.
    public var answer: Answer = .unchanged
    /// How long to wait before anything is sent.
    public var delay: Duration = .zero
    /// Added to the answer.
    public var headers: HTTPFields = [:]
    /// How many matching requests it applies to; `nil` for every one.
    public var times: Int?
    /// The only verb it applies to, in upper case; `nil` for all.
    public var method: String?
    /// The beginning of the paths it applies to; `nil` for all.
    public var path: String?

    /// A fault of `vendor`, or of every vendor, that changes nothing yet.
    public init(vendor: String? = nil) {
        self.vendor = vendor
    }

    /// Tells whether a request is one this fault is about, however often it has applied already.
    func matches(_ request: SimulatedRequest, of vendor: String) -> Bool {
        (self.vendor ?? vendor) == vendor
            && (method ?? request.method) == request.method
            && (path.map { request.path.hasPrefix($0) } ?? true)
    }
}
