// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The user and the password of HTTP Basic authentication (RFC 7617), for vendors whose servers may not require them.
///
/// The manifest declares the field `username` and the secret field `password`. If `password` has no value, the password is empty.
public struct OptionalCredentials: Sendable {
    private let authorization: String?

    /// Reads the fields `username` and `password`; without a user name, requests carry no credentials.
    public init(_ configuration: PluginConfiguration) {
        authorization = configuration.optionalString("username").map { username in
            SecretPlaceholder.basicCredentials(
                user: username,
                password: configuration.optionalSecret("password")?.text ?? ""
            )
        }
    }

    /// The request with the credentials, if there are any.
    public func added(to request: HTTPRequest) -> HTTPRequest {
        var request = request
        if let authorization { request.headers["Authorization"] = authorization }
        return request
    }

    /// The evidence of a request that the vendor accepted with the credentials. If the vendor refuses the same request
    /// without them, the credentials are proved.
    ///
    /// - Parameters:
    ///   - reachable: What the request proved so far.
    ///   - request: The request without credentials; it must leave no trace.
    ///   - http: The service that sends it, unless there are no credentials.
    public func evidence(
        _ reachable: Evidence,
        refused request: HTTPRequest,
        by http: any HTTPService
    ) async -> [Evidence] {
        guard authorization != nil else { return [reachable] }
        let refusal = await http.sendForEvidence(request)
        guard refusal?.status == 401 || refusal?.status == 403 else { return [reachable] }
        return [reachable, .authenticated("the same request without credentials is refused")]
    }
}
