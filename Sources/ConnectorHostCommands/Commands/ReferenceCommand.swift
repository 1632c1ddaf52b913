// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorManifest
internal import ConnectorPlatform

/// `connector-host reference`: prints the pages of the reference, or keeps a folder of them up to date.
struct ReferenceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reference",
        abstract: "Print a page of the reference, or write all of them into a folder.",
        discussion: """
            The pages are written from what the program itself reads: the keys of manifests, of connectors.json and of answers, the operations \
            of capabilities with their payloads and events, commands, rules of conformance, metrics and error codes. They need no network.

            With --plugin, it is the page of that plugin: what its manifest says. In a page that exists, it takes the place between the lines \
            "<!-- manifest -->" and "<!-- /manifest -->", and the rest stays as it is.

            Exit status: 0; 1 if --check finds a page that differs, or a page cannot be written; 64 for wrong usage.

            Examples:
              connector-host reference capabilities
              connector-host reference --into docs/reference
              connector-host reference --into docs/reference --check
              connector-host reference --plugin librates.so --into docs
            """
    )

    @Argument(help: "The page: \(ReferencePage.allCases.map(\.rawValue).joined(separator: ", ")).")
    var page: ReferencePage?

    @Option(help: "The folder to write every page into; it is made if it is missing.", completion: .directory)
    var into: String?

    @Option(
        help: ArgumentHelp("A plugin, whose page it is: its manifest or its image.", valueName: "file"),
        completion: .file(extensions: ["json", "so", "dylib"])
    )
    var plugin: [String] = []

    @Flag(help: "Write nothing, and name the pages in the folder that differ.")
    var check = false

    @OptionGroup var answer: OutputOptions

    func validate() throws {
        guard page == nil ? into != nil || !plugin.isEmpty : into == nil && plugin.isEmpty else {
            throw ValidationError("name either a page, or a plugin, or a folder: --into")
        }
        if check, into == nil { throw ValidationError("--check needs a folder: --into") }
    }

    func run() async throws {
        var done = ReferenceDocument(isComparison: check)
        if let page {
            done.pages.append(ReferenceDocument.Page(name: page.rawValue, text: page.text))
            return answer.output.write(done)
        }
        let errors =
            plugin.isEmpty
            ? ReferencePage.allCases.compactMap { take($0, &done) } : plugin.compactMap { take($0, &done) }
        guard errors.isEmpty else {
            // As JSON, the errors alone are the answer.
            if !answer.isJSON { answer.output.write(done) }
            answer.report(errors)
            throw ExitStatus.failed
        }
        answer.output.write(done)
    }

    /// Writes a page of the reference into the folder, or compares it. Returns the error; nil on success.
    private func take(_ page: ReferencePage, _ done: inout ReferenceDocument) -> ConnectorError? {
        let file = "\(into ?? ".")/\(page.rawValue).md"
        return failure { () throws(ConnectorError) in
            try take(page.text, as: file, fix: "connector-host reference --into \(into ?? ".")")
            done.files.append(file)
        }
    }

    /// Writes a plugin's page into the folder, compares it or, without a folder, keeps it to be printed. Returns the error; nil on
    /// success.
    private func take(_ plugin: String, _ done: inout ReferenceDocument) -> ConnectorError? {
        failure { () throws(ConnectorError) in
            let page = try PluginPage(of: plugin)
            guard let into else {
                return done.pages.append(ReferenceDocument.Page(name: page.manifest.id, text: page.text))
            }
            let file = "\(into)/\(page.name)"
            let present =
                FileStamp(path: file) == nil ? nil : try SmallFile(reading: file, limit: Self.pageLimit).bytes
            let text = try present.map { bytes throws(ConnectorError) in
                try page.updated(String(decoding: bytes, as: UTF8.self), file: file)
            }
            try take(text ?? page.text, as: file, fix: "connector-host reference --plugin \(plugin) --into \(into)")
            done.files.append(file)
        }
    }

    /// Writes a page, and makes its folder, or compares it with its file.
    ///
    /// - Parameter fix: The command that writes the page.
    private func take(_ text: String, as file: String, fix: String) throws(ConnectorError) {
        guard check else {
            try makeFolder(file.parentPath)
            return try TextFile.replace(file, with: text)
        }
        let written = try SmallFile(reading: file, limit: Self.pageLimit).bytes
        guard written.elementsEqual(text.utf8) else {
            throw ConnectorError(
                .invalidValue,
                "\(file.excerpt) is not what this program has",
                fix: "write the pages again: \(fix)"
            )
        }
    }

    private func makeFolder(_ path: String) throws(ConnectorError) {
        do throws(SystemError) {
            try Directory.make(path, mode: 0o755)
        } catch {
            throw ConnectorError(
                .failed,
                "the folder \(path.excerpt) cannot be made",
                fix: error.diskRemedy ?? "check what is at its path, and the permissions of the folder above",
                cause: error.description
            )
        }
    }

    private func failure(_ body: () throws(ConnectorError) -> Void) -> ConnectorError? {
        do throws(ConnectorError) {
            try body()
            return nil
        } catch {
            return error
        }
    }

    /// The maximum size of a page, in bytes.
    private static let pageLimit = 1 << 20
}

extension ReferencePage: ExpressibleByArgument {}
