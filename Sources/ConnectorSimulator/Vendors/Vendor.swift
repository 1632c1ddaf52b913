// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// One vendor's HTTP API, as a function from a request to an answer.
///
/// A vendor is asked from any number of connections at once; one mutex guards its data. It never sees a connection, a
/// content encoding or the prefix it is mounted under, so it can be asked without a network.
package protocol Vendor: Sendable {
    /// The vendor's name in commands, in paths and in `connectors.json`, for instance `segment`.
    static var name: String { get }

    /// The credentials accepted when none are given, by the configuration keys of the adapter of the same name.
    static var demoCredentials: [String: String] { get }

    /// The keys of the credentials whose values must stay hidden.
    static var secretKeys: [String] { get }

    /// The values of these credentials that must stay hidden wherever they occur.
    static func secrets(in credentials: AcceptedCredentials) -> [String]

    /// A configuration of the adapter of the same name that reaches this vendor with the demonstration credentials.
    ///
    /// - Parameter baseURL: where the vendor is served, without a trailing slash.
    static func configuration(baseURL: String) -> [String: String]

    /// Starts with nothing stored.
    init(credentials: AcceptedCredentials)

    /// Answers and stores data as the vendor does.
    func respond(to request: SimulatedRequest) -> HTTPResponse

    /// The vendor's answer to a failure that lies outside of its API's logic, such as an overload.
    ///
    /// - Parameters:
    ///   - status: the HTTP status; `nil` when only the vendor's own code was given.
    ///   - code: the vendor's own error code; `nil` for the usual one.
    ///   - message: what went wrong; `nil` for the usual words.
    func failure(status: Int?, code: String?, message: String?) -> HTTPResponse
}

extension Vendor {
    /// The name, reachable from a value.
    package var name: String { Self.name }

    /// The demonstration credentials and the endpoint.
    package static func configuration(baseURL: String) -> [String: String] {
        demoCredentials.merging(["endpoint": baseURL]) { first, _ in first }
    }

    /// The values under the secret keys.
    package static func secrets(in credentials: AcceptedCredentials) -> [String] {
        credentials.values(of: secretKeys)
    }
}
