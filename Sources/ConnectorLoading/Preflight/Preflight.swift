// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase
package import ConnectorManifest

/// Checks an image before any of its code runs; cheap enough for every load.
package enum Preflight {
    /// The versions of the ABI that this host speaks.
    package static let abiVersions: ClosedRange<UInt32> = 1...UInt32(CONNECTOR_ABI_VERSION)

    /// Checks that an image is an undamaged shared library for this machine.
    ///
    /// - Throws: `wrong-architecture`, `executable`, or `not-elf` for an object file or core dump.
    package static func linkable(_ image: ELFImage) throws(ConnectorError) -> ImageSoundness {
        try image.checkKind()
        let dynamic = DynamicSection(image)
        if image.isProgram(dynamic) { throw executable(image.bytes.path) }
        guard let dynamic else { throw notShared(image.bytes.path, "it has no dynamic section") }
        let soundness = ImageSoundness(image, dynamic)
        try soundness.check()
        return soundness
    }

    /// The requirements of the manifest that the image or this host does not meet.
    package static func problems(of manifest: Manifest, _ soundness: ImageSoundness) -> [ConnectorError] {
        var problems: [ConnectorError] = []
        let image = soundness.image
        let path = image.bytes.path
        if let problem = abiProblem(manifest, path: path) { problems.append(problem) }
        var exported: [String]?
        func remedy(_ name: String) -> String {
            guard manifest.entry == nil else { return exportRemedy(of: manifest) }
            // Each suggestion takes up to a millisecond, and a manifest may name thousands of functions.
            guard problems.count < 20 else { return symbolRemedy(name, among: []) }
            let names = exported ?? image.exportedNames(soundness.dynamic)
            exported = names
            return symbolRemedy(name, among: names)
        }
        func check(_ name: String, role: @autoclosure () -> String) {
            if let symbol = image.exported(name.utf8Span.span, soundness.dynamic) {
                if !soundness.isFunction(symbol) { problems.append(noFunction(name, role: role(), path: path)) }
            } else {
                problems.append(symbolAbsent(name, role: role(), path: path, fix: remedy(name)))
            }
        }
        if let entry = manifest.entry { check(entry, role: "its entry function") }
        for capability in manifest.capabilities {
            for operation in capability.operations {
                check(operation.symbol, role: "the operation \(operation.name) of \(capability.id)")
            }
        }
        return problems
    }

    /// About how much of a function's role, which includes the name of an operation, a message shows.
    private static let roleLength = 200

    /// The error for an exported symbol that is not a function although the manifest names it as one.
    private static func noFunction(_ symbol: String, role: String, path: String) -> ConnectorError {
        ConnectorError(
            .symbolAbsent,
            "\(path) exports \(symbol.excerpt), which its manifest names as \(role.excerpt(of: roleLength)), but it is not a "
                + "function",
            fix: "name a function in the manifest, or build the file again"
        )
    }

    /// The error for a manifest whose ABI versions this host does not support; nil if they overlap.
    package static func abiProblem(_ manifest: Manifest, path: String) -> ConnectorError? {
        let spoken = abiVersions
        guard !manifest.abi.overlaps(spoken) else { return nil }
        let isNewer = manifest.abi.lowerBound > spoken.upperBound
        return ConnectorError(
            .unsupportedABI,
            "\(path) requires versions \(manifest.abi.lowerBound) to \(manifest.abi.upperBound) of the ABI, this host "
                + "speaks \(spoken.lowerBound) to \(spoken.upperBound)",
            fix: isNewer ? "use a newer host, or an older version of the plugin" : "use a newer version of the plugin"
        )
    }

    /// The error for a function that the manifest names and the image does not export.
    package static func symbolAbsent(
        _ symbol: String,
        role: String,
        path: String,
        fix: String = Self.exportRemedy
    ) -> ConnectorError {
        ConnectorError(
            .symbolAbsent,
            "\(path) does not export \(symbol.excerpt), which its manifest names as \(role.excerpt(of: roleLength))",
            fix: fix
        )
    }

    /// The fix for a function that the plugin does not export.
    package static let exportRemedy =
        "export it (CONNECTOR_EXPORT in C, @_cdecl or @c in Swift, #[no_mangle] in Rust), or correct the manifest"

    /// The fix for a function that an image with an entry function does not export.
    package static func exportRemedy(of manifest: Manifest) -> String {
        guard manifest.library != nil else { return exportRemedy }
        return
            "remove \"entry\" from the manifest: what \"library\" names was not written as a plugin, and has none; or export it"
    }

    /// What to do about a function that a foreign library does not export: only the manifest can be wrong.
    ///
    /// - Parameter exported: The names that the library exports; empty if unknown.
    package static func symbolRemedy(_ symbol: String, among exported: [String]) -> String {
        let similar = exported.filter { abs($0.utf8.count - symbol.utf8.count) <= 3 }
        return suggestion(for: symbol, among: similar)
            ?? "correct the symbol in the manifest: nm -D lists what the library exports"
    }

    /// The error for a file that changed since it was found.
    package static func changed(_ path: String) -> ConnectorError {
        ConnectorError(
            .loadFailed,
            "\(path) changed while it was being loaded",
            fix: "try again when it is complete; replace plugins by renaming a new file over the old one",
            isRetryable: true
        )
    }

    package static func executable(_ path: String) -> ConnectorError {
        ConnectorError(
            .executable,
            "\(path) is a program, not a shared library",
            fix: "link it with -shared, not with -pie"
        )
    }

    package static func notShared(_ path: String, _ cause: String) -> ConnectorError {
        ConnectorError(.notELF, "\(path) is ELF, but not a shared library", fix: "link it with -shared", cause: cause)
    }
}

extension ELFImage {
    /// Checks that the image is a library for this machine, as far as the start of the file shows.
    ///
    /// - Throws: `wrong-architecture`, `executable`, or `not-elf` for an object file or core dump.
    package func checkKind() throws(ConnectorError) {
        guard architecture == .host else { throw Self.wrongArchitecture(bytes, architecture) }
        switch type {
        case Self.sharedObject: break
        case Self.program: throw Preflight.executable(bytes.path)
        case 1: throw Preflight.notShared(bytes.path, "it is an object file")
        default: throw Preflight.notShared(bytes.path, "its ELF type is \(type)")
        }
        if segment(ELFConstant.interpreter) != nil, isProgram(DynamicSection(self)) {
            throw Preflight.executable(bytes.path)
        }
    }
}
