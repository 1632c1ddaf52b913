// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorInvocation

extension ServiceFailure {
    /// Redacts the secrets that the message quotes.
    package func redacted(by redactor: Redactor) -> Self {
        var failure = self
        failure.message = redactor.redact(message)
        return failure
    }
}
