// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorHost
internal import ConnectorPlatform
internal import ConnectorScaffold

/// `connector-host new`: creates a project for a plugin, or updates one for this host.
struct NewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "Make a project for a plugin of your own.",
        discussion: """
            The project has a manifest, a source with one operation, a secret and a proof, answers in place of the vendor, tests, a \
            Makefile, and a connectors.json to try it with. It needs no network. "make test" in it builds and checks it.

            With a standard capability, such as analytics/1 or geocoder/1, it has each of its operations, as one request to the vendor's \
            URL: POST /NAME, or GET for one that only reads and has no content.

            --update FOLDER brings a project to this host: it rewrites the unedited files in generated/. What was \
            edited stays, and this host's text is written beside it as FILE.new. No other file is touched.

            Exit status: 0; 1 if the project cannot be made, or an update left a conflict; 64 for wrong usage.

            Examples:
              connector-host new rates --language c
              connector-host new rates --language rust --capability exchange/1 \\
                --vendor-url https://api.example.com/v1
              connector-host new places --language swift --capability geocoder/1 \\
                --vendor-url https://geo.example.com
              connector-host new --update rates
            """
    )

    @Argument(help: "The plugin's id, which names its folder, too; with --update, the project's folder.")
    var name: String

    @Option(help: "The language: \(ProjectLanguage.allCases.map(\.rawValue).joined(separator: ", ")).")
    var language: ProjectLanguage?

    @Option(
        help: ArgumentHelp(
            "Its capability: a standard one, or one of its own; by default NAME/1.",
            valueName: "name/version"
        )
    )
    var capability: String?

    @Option(
        name: .customLong("vendor-url"),
        help: ArgumentHelp("Where the vendor's API is.", valueName: "url")
    )
    var vendorURL: String?

    @Option(
        help: ArgumentHelp("Where to make the project; by default the id.", valueName: "folder"),
        completion: .directory
    )
    var folder: String?

    @Option(
        help: ArgumentHelp(
            "Where the kit for Swift is; by default the one that came with the program.",
            valueName: "folder"
        ),
        completion: .directory
    )
    var kit: String?

    @Flag(name: .customLong("update"), help: "Bring the project in the folder to this host.")
    var isUpdate = false

    @OptionGroup var answer: OutputOptions

    func validate() throws {
        if isUpdate, language != nil || capability != nil || vendorURL != nil || folder != nil || kit != nil {
            throw ValidationError("--update takes a project's folder, and no other option")
        }
        if !isUpdate, language == nil {
            throw ValidationError("--language is missing: c, cpp, rust or swift")
        }
        // An empty path would mean the root directory.
        if isUpdate, name.isEmpty { throw ValidationError("--update takes a project's folder, and this one is empty") }
        if folder?.isEmpty == true {
            throw ValidationError("--folder is empty; leave it out for a folder named after the id")
        }
        if kit?.isEmpty == true {
            throw ValidationError("--kit is empty; leave it out for the kit that came with the program")
        }
    }

    func run() async throws {
        var hasConflicts = false
        do throws(ConnectorError) {
            if isUpdate {
                let update = try ProjectUpdate(at: name, version: ConnectorHost.version)
                answer.output.write(ProjectUpdateDocument(folder: name, update: update))
                hasConflicts = !update.conflicts.isEmpty
            } else {
                answer.output.write(try make())
            }
        } catch {
            answer.report([error])
            throw ExitStatus.failed
        }
        if hasConflicts { throw ExitStatus.failed }
    }

    private func make() throws(ConnectorError) -> ProjectDocument {
        let language = language ?? .c
        var folderOfKit = ""
        if language == .swift {
            if let kit { folderOfKit = kit.absolutePath } else { folderOfKit = try ProgramFiles.kit() }
        }
        let project = try Project(
            name: name,
            language: language,
            capability: capability,
            url: vendorURL,
            kit: folderOfKit
        )
        if language == .swift { try ProgramFiles.checkKit(at: folderOfKit) }
        let folder = folder ?? name
        let files = try project.create(at: folder, version: ConnectorHost.version)
        return ProjectDocument(folder: folder, project: project, files: files)
    }
}

extension ProjectLanguage: ExpressibleByArgument {}
