// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorHost
internal import ConnectorPlatform

/// `connector-host swap`: replaces the image of a plugin while its connector runs.
struct SwapCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "swap",
        abstract: "Put another image of a plugin in place, and make the host that runs on the file take it up.",
        discussion: """
            The host checks the image first: as a library for this system, against connectors.lock.json, by its signature, and for the \
            signatures that callers use. An image that is not valid is put nowhere. A valid one is shown as a plan, copied beside the old \
            one, renamed over it, and taken up like any other change. If it does not open, the old file is put back.

            Exit status: 0 if the image is in use, 1 if it is not, or no host runs on the file, 2 if the file or the image is not valid, \
            64 for wrong usage.

            Examples:
              connector-host swap analytics/segment build/libsegment.so
            """
    )

    @Argument(help: "The path of a connector that the plugin serves.", completion: ConnectorCompletion.paths)
    var path: String

    @Argument(
        help: ArgumentHelp("The image to take the place of the connector's.", valueName: "file"),
        completion: .file(extensions: ["so", "dylib"])
    )
    var image: String

    @OptionGroup var file: ConfigurationOption

    @OptionGroup var answer: OutputOptions

    func run() async throws {
        let host = try await file.runningHost(answer)
        let image = image.absolutePath
        let plan: Plan
        do throws(ConnectorError) {
            plan = try await host.plan(swapping: path, with: image)
        } catch {
            answer.report([error], of: .call)
            throw Self.isAboutFiles(error.code) ? ExitStatus.invalidConfiguration : ExitStatus.failed
        }
        if !answer.isJSON { answer.output.write(PlanDocument(plan: plan)) }
        let basis = plan.basis
        try await file.show(answer) { () throws(ConnectorError) in try await host.swap(path, with: image, basis) }
    }

    /// Whether an error concerns the file or the image, not the host, its machine or the connector's path.
    private static func isAboutFiles(_ code: ConnectorError.Code) -> Bool {
        let others: [ConnectorError.Code] = [
            .unavailable, .notOpen, .timedOut, .cancelled, .aborted, .denied, .unknownConnector, .protocolViolation,
            .failed, .missing, .rateLimited, .storage,
        ]
        return !others.contains(code)
    }
}
