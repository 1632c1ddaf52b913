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
        let arguments = CommandLine.arguments
        guard arguments.count == 3 else {
            StandardError.print("usage: connector-manifest NAME.connector.json OUTPUT.swift")
            CurrentProcess.exit(status: 64)
        }
        do throws(ConnectorError) {
            let text = try TextFile.read(arguments[1])
            let (manifest, problems) = Manifest.read(text, file: arguments[1])
            guard problems.isEmpty, let manifest else { return fail(problems) }
            var generator = PluginSourceGenerator(manifest, text: text, file: arguments[1])
            let source = try generator.source()
            guard generator.problems.isEmpty else { return fail(generator.problems) }
            try TextFile.write(source, to: arguments[2])
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
