// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// An application's value, made from a provider's data.
///
/// Fetching and interpreting stay apart, so each is tested without the other: the provider returns raw data, and the
/// model interprets them.
public protocol Model: Sendable {
    /// The raw form that a provider delivers.
    associatedtype ProvidedData: Sendable

    /// Interprets a provider's data.
    ///
    /// - Parameter data: The provider's output.
    /// - Throws: An error if the data do not describe a model; the call fails with it.
    init(from data: ProvidedData) throws
}
