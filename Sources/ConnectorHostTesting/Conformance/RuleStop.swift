// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Why the check of a rule stops early.
enum RuleStop: Error {
    /// The rule does not apply to this plugin; the reason.
    case inapplicable(String)
    /// The rule could not be checked here; what is missing, and what to do.
    case unchecked(String)
    /// A finding says why.
    case found
}
