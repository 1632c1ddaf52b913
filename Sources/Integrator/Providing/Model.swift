// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// What an application works with, made from what a provider delivers.
///
/// Fetching and understanding stay apart, so each is tested without the other: the provider returns the data as they
/// came, the model says what they mean.
public protocol Model: Sendable {
    /// The form in which a provider delivers, before it means anything.
    associatedtype ProvidedData: Sendable

    /// Understands what a provider delivered.
    ///
    /// - Parameter data: The provider's output.
    /// - Throws: When the data do not describe such a model; the call then fails with this error.
    init(from data: ProvidedData) throws
}
