// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// How fast time passes for a simulated host. It is limited, because timeouts shrink too, while simulators still take milliseconds.
struct SpeedOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "With --simulate: how many seconds pass for the host in one second, from 1 to 100. (default: 1)",
            valueName: "number"
        )
    )
    private var speed: Int?

    /// Whether the command names a speed.
    var isGiven: Bool { speed != nil }

    /// How many seconds pass for the host in one second.
    var factor: Int { speed ?? 1 }

    /// Checks the option.
    ///
    /// - Throws: A `ValidationError`, which ends the process with status 64.
    func validate(isSimulated: Bool) throws {
        guard let speed else { return }
        guard isSimulated else { throw ValidationError("--speed requires --simulate: vendors do not hurry.") }
        guard (1...100).contains(speed) else { throw ValidationError("--speed must be from 1 to 100.") }
    }
}
