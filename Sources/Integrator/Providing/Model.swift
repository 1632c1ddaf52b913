// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// An application's value, made from a provider's data.
///
/// Fetching and interpreting are separate, so each is tested without the other: the provider returns raw data, and the
/// model interprets it.
public protocol Model: Sendable {
    /// The raw form that a provider delivers.
    associatedtype ProvidedData: Sendable

    /// Interprets a provider's data.
    ///
    /// - Parameter data: The provider's output.
    /// - Throws: An error if the data is invalid; the call fails with it.
    init(from data: ProvidedData) throws
}
