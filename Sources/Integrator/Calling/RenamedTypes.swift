// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The earlier name of ``CallFlow``.
///
/// It hides the module's name: where another module has a type of the same name, write `Integrator::Model`.
@available(*, deprecated, renamed: "CallFlow")
public typealias Integrator = CallFlow

/// The earlier name of ``DeferredCall``.
@available(*, deprecated, renamed: "DeferredCall")
public typealias PreparedCall = DeferredCall
