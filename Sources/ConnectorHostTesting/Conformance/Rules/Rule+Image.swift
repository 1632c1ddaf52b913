// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorLoading
internal import ConnectorManifest

/// The rule that a problem of a file belongs to.
enum Fault: Equatable {
    case manifest, mismatch, abi, symbols, signatures, dependencies, image

    init(_ error: ConnectorError) {
        switch error.code {
        case .noManifest, .invalidManifest, .syntax, .invalidValue, .missing, .unknownKey, .notFound: self = .manifest
        case .manifestMismatch: self = .mismatch
        case .unsupportedABI: self = .abi
        case .symbolAbsent: self = .symbols
        case .signatureMismatch: self = .signatures
        case .missingDependency, .missingSymbol, .missingSymbolVersion: self = .dependencies
        default: self = .image
        }
    }

    /// Whether a problem of another kind keeps an inspection from finding problems of this one.
    private func isHidden(by other: Fault) -> Bool {
        switch self {
        case .manifest, .image: false
        case .dependencies: other == .image
        case .mismatch, .abi, .symbols, .signatures: other == .image || other == .manifest
        }
    }

    /// Reports the problems of this kind as findings of a rule.
    ///
    /// - Throws: `RuleStop.unchecked` if there are none because the file, or what the rule is about, could not be read.
    func report(as rule: PluginConformance.Rule, _ run: RuleRun) throws(RuleStop) {
        guard let inspection = run.inspection else { throw .inapplicable("the plugin is linked") }
        let own = inspection.problems.filter { Fault($0) == self }
        for problem in own { run.report(rule, problem.description) }
        let obstacle = inspection.problems.first { inspection.size == nil || isHidden(by: Fault($0)) }
        if own.isEmpty, let obstacle { throw .unchecked(obstacle.message) }
    }
}

/// The image: what the dynamic linker and the host find in it.
extension PluginConformance.Rule {
    static let imageRules: [Self] = [
        image, dependencies, symbols, signatures, loads, loadsQuietly, loadsAlone, unprivileged,
    ]

    static let image: Self = Self(
        "image",
        level: 1,
        .image,
        "The image is a whole one for this machine",
        expects: "The file is a shared library for this architecture, and nothing in it is damaged.",
        fix: "do what the error says, or build it again: see connector-host inspect",
        needs: .file
    ) { run in try Fault.image.report(as: image, run) }

    static let dependencies: Self = Self(
        "dependencies",
        level: 1,
        .image,
        "Everything that the image needs is there",
        expects: "Every library, symbol and symbol version that the image needs is on this system.",
        fix: "do what the error says: install or link what is missing, or build on an older system",
        needs: .file
    ) { run in try Fault.dependencies.report(as: dependencies, run) }

    /// The image exports every function that the manifest names.
    public static let symbols: Self = Self(
        "symbols",
        level: 1,
        .image,
        "The functions of the manifest are exported",
        expects: "The image exports the entry and the function of each operation.",
        fix: "export the function with CONNECTOR_EXPORT, and without a mangled name",
        needs: .file
    ) { run in
        try Fault.symbols.report(as: symbols, run)
        for symbol in run.inspection?.symbols ?? [] where !symbol.isPresent {
            let names = "\(symbol.name.excerpt) (\(symbol.role.excerpt))"
            run.report(symbols, "the manifest names \(names), which the image does not export")
        }
    }

    static let signatures: Self = Self(
        "signatures",
        level: 1,
        .image,
        "Operations of standard capabilities have their signatures",
        expects: "Each operation of a standard capability has the signature of its reference.",
        fix: "copy the signature from connector-host reference capabilities",
        needs: .file
    ) { run in try Fault.signatures.report(as: signatures, run) }

    /// The dynamic linker loads the image, and its entry function returns a valid table.
    public static let loading = loads

    static let loads: Self = Self(
        "loads",
        level: 1,
        .image,
        "The image loads, and its entry returns a table",
        expects: "Constructors return, and the entry function returns a static table with create, open and destroy.",
        fix: "do what the error says; connector/plugin.h has the rules for the table",
        needs: .image
    ) { run in _ = try run.plugin() }

    static let loadsQuietly: Self = Self(
        "constructors-quiet",
        level: 5,
        .image,
        "Loading does no work",
        expects: "Constructors start no thread and leave no descriptor.",
        fix: "move the work from the constructor into create or open",
        needs: .image,
        ownsProcess: true
    ) { run in
        // Load in place: a sealed copy would be a descriptor of the host's own.
        SealedImage.loadsInPlace = true
        let before = ProcessState.current
        _ = try run.plugin()
        let after = ProcessState.current
        if after.threads > before.threads {
            run.report(loadsQuietly, "loading started \(after.threads - before.threads) threads")
        }
        for file in after.files(since: before) { run.report(loadsQuietly, "loading left \(file) open") }
    }

    static let loadsAlone: Self = Self(
        "constructors-leave-process",
        level: 4,
        .image,
        "Loading leaves the process as it was",
        expects: "Constructors change no variable, directory, mask, locale or signal handler.",
        fix: "remove the call from the constructor",
        needs: .image,
        ownsProcess: true
    ) { run in
        let before = ProcessState.current
        _ = try run.plugin()
        for change in ProcessState.current.changes(since: before) {
            run.report(loadsAlone, "loading changed \(change)")
        }
    }

    static let unprivileged: Self = Self(
        "image-write-execute",
        level: 8,
        .image,
        "No memory is both written and run",
        expects: "The image asks for no memory that can be written and executed, such as an executable stack.",
        fix: "link with -z noexecstack, and without nested functions in C",
        needs: .file
    ) { run in
        guard case .file = run.subject, let path = run.inspection?.path else {
            throw RuleStop.inapplicable("the plugin is linked")
        }
        guard let bytes = try? ImageBytes(path: path), let image = try? ELFImage(bytes) else {
            throw RuleStop.inapplicable("it is not an ELF image")
        }
        let both = ELFConstant.writable | ELFConstant.executable
        for (index, segment) in image.segments.enumerated() where segment.flags & both == both {
            switch segment.type {
            case ELFConstant.load: run.report(unprivileged, "the segment \(index) can be written and executed")
            case ELFConstant.stack: run.report(unprivileged, "the stack can be written and executed")
            default: break
            }
        }
    }
}
