// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

/// Generates a plugin's Swift source from its manifest.
///
/// The build tool plugin runs it: `connector-manifest NAME.connector.json OUTPUT.swift`. It prints each problem as
/// `file:line:column: error: …`, so the build shows it in place.
@main
struct ConnectorManifestTool {
    static func main() {
        let arguments = CurrentProcess.arguments
        guard arguments.count == 2 else {
            StandardError.print("usage: connector-manifest NAME.connector.json OUTPUT.swift")
            CurrentProcess.exit(status: 64)
        }
        guard let input = arguments[0], let output = arguments[1] else {
            let number = arguments[0] == nil ? 1 : 2
            StandardError.print(
                "error: argument \(number) is not UTF-8; give the file, and the directories that lead to it, names in UTF-8"
            )
            CurrentProcess.exit(status: 64)
        }
        do throws(ConnectorError) {
            let text = try TextFile.read(input)
            let (manifest, problems) = Manifest.read(text, file: input)
            guard problems.isEmpty, let manifest else { return fail(problems) }
            var generator = PluginSourceGenerator(manifest, text: text, file: input)
            let source = try generator.source()
            guard generator.problems.isEmpty else { return fail(generator.problems) }
            try TextFile.write(source, to: output)
        } catch {
            fail([error])
        }
    }

    private static func fail(_ problems: [ConnectorError]) {
        for problem in problems {
            let place = problem.position.map { "\($0): " } ?? ""
            let fix = problem.fix.map { "; \($0)" } ?? ""
            StandardError.print("\(place)error: \(problem.message)\(fix)")
        }
        CurrentProcess.exit(status: 1)
    }
}
