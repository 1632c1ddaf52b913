// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Why a request, or a part of it, is refused.
struct Refusal: Error {
    /// The message, in the vendor's words.
    var message: String
}
