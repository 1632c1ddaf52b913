// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// Whether a command uses the host that runs on the same file.
struct AttachOption: ParsableArguments {
    @Flag(
        inversion: .prefixedNo,
        help: "Require a host that runs on the file, or ignore it. (default: use the host if one runs)"
    )
    var attach: Bool?

    /// - Throws: A `ValidationError`, which ends the process with status 64.
    func validate(isSimulated: Bool) throws {
        if isSimulated, attach == true {
            throw ValidationError("A running host is not simulated: remove --attach or --simulate.")
        }
    }
}
