// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorInvocation

/// A request, or a call of a used gate, that an operation has awaited until its deadline.
enum UnfinishedWork: Sendable {
    /// A request in progress.
    case request(HTTPExchange)
    /// A call of a used gate in progress, by the plugin's name for that gate.
    case call(use: String)
    /// Work that has just ended, at its own deadline.
    case ended(ServiceFailure)

    /// Why it has not ended. Takes the locks of the exchange.
    var lateness: ServiceFailure {
        switch self {
        case .request(let exchange): exchange.lateness
        case .call(let use): .timedOut("no answer from the used gate \"\(use)\" in time")
        case .ended(let failure): failure
        }
    }
}
