// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase

extension Duration {
    /// Parses a duration, such as `5s`.
    ///
    /// - Throws: A `ValidationError`, which ends the process with status 64.
    static func argument(_ text: String) throws -> Duration {
        guard let duration = Duration(parsing: text), duration > .zero else {
            if Duration.range(violatedBy: text) != nil {
                throw ValidationError("'\(text)' is out of range: a duration is at least 1ms and at most 8760h.")
            }
            throw ValidationError("'\(text)' is not a duration: write a number with a unit, such as 500ms, 5s or 2m.")
        }
        return duration
    }
}
