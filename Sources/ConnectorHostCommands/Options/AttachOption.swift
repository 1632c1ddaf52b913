// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// Whether a command uses the host that runs on the same file.
struct AttachOption: ParsableArguments {
    @Flag(
        inversion: .prefixedNo,
        help:
            "Require a host that runs on the file (one that simulates, if this command does), or ignore it. (default: use the host if one runs)"
    )
    var attach: Bool?

    /// Checks the option.
    ///
    /// - Parameter isOwn: Whether the command needs a host with answers, a speed or sandboxes of its own.
    /// - Throws: A `ValidationError`, which ends the process with status 64.
    func validate(isOwn: Bool) throws {
        if isOwn, attach == true {
            throw ValidationError(
                "A running host keeps its own answers, speed and sandboxes: remove --attach, or --answers, --speed and --learn."
            )
        }
    }
}
