// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// One vendor's HTTP API, as a function from a request to an answer.
///
/// Any number of connections call a vendor concurrently; one mutex guards its data. It sees neither a connection nor the prefix it is
/// mounted under, and a content encoding only if it stores encoded bodies, so tests can call it without a network.
package protocol Vendor: Sendable {
    /// The vendor's name in commands, in paths and in `connectors.json`, for example `segment`.
    static var name: String { get }

    /// The credentials accepted by default, by the configuration keys of the adapter of the same name.
    static var demoCredentials: [String: String] { get }

    /// The keys of the credentials whose values must stay hidden.
    static var secretKeys: [String] { get }

    /// Whether the server keeps bodies as they come, with their content encodings; otherwise it gets them decoded.
    static var storesEncodedBodies: Bool { get }

    /// The values of these credentials to redact wherever they occur.
    static func secrets(in credentials: AcceptedCredentials) -> [String]

    /// The configuration of the adapter of the same name for this vendor, with the demonstration credentials.
    ///
    /// - Parameter baseURL: the vendor's root URL, without a trailing slash.
    static func configuration(baseURL: String) -> [String: String]

    /// Creates a vendor without stored data.
    init(credentials: AcceptedCredentials)

    /// Creates what a further set of accepted credentials names, such as a bucket; leaves what exists as it is.
    func prepare(for set: [String: String])

    /// Answers a request, and stores its data, as the vendor does.
    func respond(to request: SimulatedRequest) -> HTTPResponse

    /// Answers a request like ``respond(to:)``, and says how to deliver the response.
    func exchange(for request: SimulatedRequest) -> SimulatedExchange

    /// The vendor's answer for an error outside its API's logic, such as an overload.
    ///
    /// - Parameters:
    ///   - status: the HTTP status; `nil` if only the vendor's code is given.
    ///   - code: the vendor's error code; `nil` for the default.
    ///   - message: the message; `nil` for the default.
    func failure(status: Int?, code: String?, message: String?) -> HTTPResponse
}

extension Vendor {
    /// The response, delivered at once.
    package func exchange(for request: SimulatedRequest) -> SimulatedExchange {
        SimulatedExchange(response: respond(to: request))
    }

    /// Nothing: most credentials name nothing that is stored.
    package func prepare(for set: [String: String]) {}

    /// False: most vendors read what they get.
    package static var storesEncodedBodies: Bool { false }

    /// The static name, on an instance.
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
