// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorConfiguration

/// `connector-host reference`: prints the pages of the reference, or keeps a folder of them true.
struct ReferenceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reference",
        abstract: "Print a page of the reference, or write all of them into a folder.",
        discussion: """
            The pages are written from what the program itself reads: the keys of manifests, of connectors.json and of answers, the operations
            of capabilities with their payloads and events, commands, rules of conformance, metrics and error codes. They need no network.

            Exit status: 0; 1 if --check finds a page that differs, or a page cannot be written; 64 for wrong usage.

            Examples:
              connector-host reference capabilities
              connector-host reference --into docs/reference
              connector-host reference --into docs/reference --check
            """
    )

    @Argument(help: "The page: \(ReferencePage.allCases.map(\.rawValue).joined(separator: ", ")).")
    var page: ReferencePage?

    @Option(help: "The folder to write every page into.", completion: .directory)
    var into: String?

    @Flag(help: "Write nothing, and name the pages in the folder that differ.")
    var check = false

    @OptionGroup var answer: OutputOptions

    func validate() throws {
        guard (page == nil) == (into != nil) else { throw ValidationError("name either a page or a folder: --into") }
        if check, into == nil { throw ValidationError("--check needs a folder: --into") }
    }

    func run() async throws {
        if let page { return StandardStream.output.write(page.text) }
        guard let into else { return }
        let errors = ReferencePage.allCases.compactMap { page in
            do throws(ConnectorError) {
                try take(page, to: "\(into)/\(page.rawValue).md")
                return nil as ConnectorError?
            } catch {
                return error
            }
        }
        guard errors.isEmpty else {
            answer.report(errors)
            throw ExitStatus.failed
        }
    }

    /// Writes a page, or compares it with its file.
    private func take(_ page: ReferencePage, to file: String) throws(ConnectorError) {
        guard check else { return try TextFile.replace(file, with: page.text) }
        let written = try SmallFile(reading: file, limit: Self.pageLimit).bytes
        guard written.elementsEqual(page.text.utf8) else {
            throw ConnectorError(
                .invalidValue,
                "\(file.excerpt) is not what this program has",
                fix: "write the pages again: connector-host reference --into \(into ?? "")"
            )
        }
    }

    /// The greatest size of a page, in bytes.
    private static let pageLimit = 1 << 20
}

extension ReferencePage: ExpressibleByArgument {}
