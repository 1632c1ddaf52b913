// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorHost

/// What stands in for the vendors of connectors in one simulation, instead of what the configuration says.
struct AnswersOption: ParsableArguments {
    @Option(
        name: .customLong("answers"),
        help: ArgumentHelp(
            "With --simulate: what replaces a connector's vendor, as \"simulate\" in the file; repeat it for several.",
            valueName: "connector=file"
        )
    )
    private var texts: [String] = []

    /// Whether the command names any answers.
    var isGiven: Bool { !texts.isEmpty }

    /// Checks the options.
    ///
    /// - Throws: A `ValidationError`, which ends the process with status 64.
    func validate(isSimulated: Bool) throws {
        guard !texts.isEmpty else { return }
        guard isSimulated else { throw ValidationError("--answers requires --simulate.") }
        var paths: Set<String> = []
        for text in texts {
            guard let (path, _) = Self.pair(text) else {
                throw ValidationError(
                    "--answers takes CONNECTOR=FILE, such as analytics/segment=answers.json, not \"\(text.excerpt)\"."
                )
            }
            guard paths.insert(path).inserted else {
                throw ValidationError("--answers names \"\(path.excerpt)\" twice.")
            }
        }
    }

    /// The simulation that the options describe; nil without simulation.
    func request(isSimulated: Bool) -> SimulationRequest? {
        let pairs = texts.compactMap(Self.pair)
        return isSimulated ? SimulationRequest(simulators: Dictionary(pairs) { first, _ in first }) : nil
    }

    private static func pair(_ text: String) -> (String, SimulatorReference)? {
        guard let sign = text.utf8.firstIndex(of: UInt8(ascii: "=")), sign > text.startIndex else { return nil }
        return SimulatorReference(argument: String(text[text.index(after: sign)...])).map {
            (String(text[..<sign]), $0)
        }
    }
}
