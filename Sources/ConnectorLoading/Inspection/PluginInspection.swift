// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorDigest
package import ConnectorManifest

/// A full report on a plugin's file, created without running any of its code.
package struct PluginInspection: Sendable {
    /// The examined file: an image, or a sidecar without an image.
    package private(set) var path: String
    /// The sidecar, if there is one.
    package private(set) var sidecar: String?
    /// The manifest, as far as it could be read.
    package private(set) var manifest: Manifest?
    /// The manifest's text, from the image or the sidecar.
    package private(set) var manifestText: [UInt8]?
    /// The file's size in bytes; nil if the file cannot be read.
    package private(set) var size: Int?
    /// The file's SHA-256 in hexadecimal; nil if the file cannot be read.
    package private(set) var sha256: String?
    /// The architecture that the image was built for; nil if it is not an ELF image.
    package private(set) var architecture: String?
    /// The language of the plugin: from the manifest, or else from the compiler's traces.
    package private(set) var language: String?
    /// The image's soname; nil if it has none.
    package private(set) var soname: String?
    /// Whether the Swift runtime registers metadata of the image.
    package private(set) var containsSwiftMetadata = false
    /// The direct and indirect dependencies.
    package private(set) var dependencies: [Dependency] = []
    /// The symbol versions that the image needs from other libraries.
    package private(set) var symbolVersions: [SymbolVersion] = []
    /// The functions that the manifest names.
    package private(set) var symbols: [DeclaredSymbol] = []
    /// The problems that prevent loading; empty if the plugin would load here.
    package var problems: [ConnectorError] = []

    /// A needed library.
    package struct Dependency: Sendable {
        /// The name by which the image needs it.
        package var name: String
        /// The image that first needs it.
        package var neededBy: String
        /// The path; nil if the library is missing, or was loaded from a file that no longer exists.
        package var path: String?
        /// Whether this process has already loaded it.
        package var isLoaded: Bool
        /// Whether the library is not on this system.
        package var isMissing: Bool
    }

    /// A needed version of a library's symbols.
    package struct SymbolVersion: Sendable {
        /// The library, as the image names it.
        package var library: String
        /// The version, such as `GLIBC_2.34`.
        package var version: String
        /// Whether this system's library has the version; nil if unknown.
        package var isPresent: Bool?
    }

    /// A function that the manifest names.
    package struct DeclaredSymbol: Sendable {
        /// The function's name in the image.
        package var name: String
        /// The role: `entry`, or the capability and operation.
        package var role: String
        /// Whether the image exports it.
        package var isPresent: Bool
    }

    /// The certificate for exactly these bytes; nil if there is none.
    package var certificate: ConformanceCertificate? { ConformanceCertificate.of(path) { sha256 } }

    /// Examines an image or a sidecar. Never fails: every fault becomes a problem.
    ///
    /// Blocks for some milliseconds while it reads the file and all its dependencies.
    package init(path: String) {
        let place = PluginCatalog.place(of: path)
        self.path = place.image ?? path
        sidecar = place.sidecar
        do throws(ConnectorError) {
            if place.image == nil, let sidecar { try resolveLibrary(of: sidecar) }
            if problems.isEmpty {
                let bytes = try ImageBytes(named: self.path)
                size = bytes.count
                sha256 = try? bytes.sha256().description
                try examine(PluginImage(bytes))
            }
        } catch {
            problems.append(error)
        }
        guard manifestText == nil, let sidecar else { return }
        manifest = ManifestReading.readSidecar(sidecar).manifest
        manifestText = ManifestReading.text(of: sidecar)
    }

    /// Finds the file that a sidecar without an image describes, or why there is none.
    private mutating func resolveLibrary(of sidecar: String) throws(ConnectorError) {
        let entry = PluginEntry(sidecar: sidecar)
        manifest = entry.manifest
        guard let candidate = entry.candidate else {
            problems = entry.errors
            return
        }
        switch candidate.image {
        case .file, .linked: path = candidate.path
        case .library(let name): path = try ForeignLibrary(name: name, sidecar: sidecar).file()
        }
    }

    #if os(macOS)
        private mutating func examine(_ image: MachOImage) throws(ConnectorError) {
            let reading = ManifestReading(of: image, sidecar: sidecar)
            manifest = reading.manifest
            manifestText = reading.embeddedText ?? sidecar.flatMap(ManifestReading.text(of:))
            language = manifest?.language
            do throws(ConnectorError) {
                try image.checkKind()
            } catch {
                problems.append(error)
            }
            problems += reading.problems
            if let manifest, let problem = Preflight.abiProblem(manifest, path: path) { problems.append(problem) }
        }
    #endif

    private mutating func examine(_ image: ELFImage) throws(ConnectorError) {
        architecture = image.architecture.description
        let dynamic = DynamicSection(image)
        soname = dynamic.flatMap { dynamic in dynamic.soname.flatMap { image.string(dynamic, at: $0) } }
        containsSwiftMetadata = image.containsSwiftMetadata(dynamic)
        let reading = ManifestReading(of: image, sidecar: sidecar)
        manifest = reading.manifest
        manifestText = reading.embeddedText ?? sidecar.flatMap(ManifestReading.text(of:))
        language = manifest?.language ?? image.language(dynamic)
        var soundness: ImageSoundness?
        do throws(ConnectorError) {
            soundness = try Preflight.linkable(image)
        } catch {
            problems.append(error)
        }
        problems += reading.problems
        guard let dynamic else { return }
        if image.architecture != .host {
            // This system's libraries are irrelevant to an image for another system.
            dependencies = image.neededLibraries(dynamic).map { name in
                Dependency(name: name, neededBy: path, path: nil, isLoaded: false, isMissing: false)
            }
            return
        }
        if let problem = StaticTLS.excess(path, needs: image.staticTLS(dynamic)) { problems.append(problem) }
        if let manifest {
            problems += Preflight.problems(of: manifest, soundness ?? ImageSoundness(image, dynamic))
            symbols = Self.symbols(of: manifest) { image.exports($0, dynamic) }
        }
        // The dependencies of a damaged image are meaningless.
        guard !problems.contains(where: { $0.code == .notELF }) else { return }
        let closure = DependencyClosure(of: image, dynamic)
        dependencies = closure.members.dropFirst().map { member in
            Dependency(
                name: member.name,
                neededBy: member.requester.map { closure.members[$0].name } ?? path,
                path: member.path,
                isLoaded: member.isLoaded,
                isMissing: member.isMissing
            )
        }
        symbolVersions = image.versionNeeds(dynamic).flatMap { need in
            let present = closure.versions(of: need.library)
            return need.versions.map { version in
                SymbolVersion(library: need.library, version: version, isPresent: present.map { $0.contains(version) })
            }
        }
        for member in closure.members.dropFirst() where !member.isLoaded {
            guard let library = member.contents?.image else { continue }
            do throws(ConnectorError) {
                _ = try Preflight.linkable(library)
            } catch {
                problems.append(error)
            }
        }
        problems += DependencyDiagnosis(closure).problems
    }

    private static func symbols(of manifest: Manifest, isPresent: (String) -> Bool) -> [DeclaredSymbol] {
        var symbols: [DeclaredSymbol] = []
        if let entry = manifest.entry {
            symbols.append(DeclaredSymbol(name: entry, role: "entry", isPresent: isPresent(entry)))
        }
        for capability in manifest.capabilities {
            for operation in capability.operations {
                let role = "\(capability.id) \(operation.name)"
                symbols.append(
                    DeclaredSymbol(name: operation.symbol, role: role, isPresent: isPresent(operation.symbol))
                )
            }
        }
        return symbols
    }
}
