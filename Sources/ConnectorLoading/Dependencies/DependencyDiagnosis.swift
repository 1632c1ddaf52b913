// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorPlatform

/// The reasons that the dynamic linker would refuse an image, found without running it, each with a fix.
package struct DependencyDiagnosis {
    private let closure: DependencyClosure
    private let path: String
    /// Every reason: missing libraries, then versions, then symbols.
    private(set) var problems: [ConnectorError] = []

    /// Examines an image with all its dependencies.
    package init(_ closure: DependencyClosure) {
        self.closure = closure
        path = closure.members.first?.name ?? ""
        problems = Self.missing(closure) + Self.unversioned(closure)
        for member in closure.members where !member.isLoaded { checkVersions(of: member) }
        // After such a problem, symbols cannot be checked: a missing library could define any of them.
        guard problems.isEmpty else { return }
        for member in closure.members where !member.isLoaded { checkSymbols(of: member) }
    }

    /// The missing libraries, each with the chain of libraries that need it.
    package static func missing(_ closure: DependencyClosure) -> [ConnectorError] {
        closure.members.indices.filter { closure.members[$0].isMissing }.map { index in
            let chain = shortened(closure.chain(to: index))
            let name = closure.members[index].name.excerpt
            let requester = chain.dropLast().last ?? ""
            let isBeside = isBesideRequester(closure.members[index], of: closure)
            return ConnectorError(
                .missingDependency,
                chain.dropLast().joined(separator: " needs ")
                    + " needs \(name), which is not \(isBeside ? "looked for beside it" : "on this system")",
                fix: isBeside
                    ? "link \(requester) with -Wl,-rpath,'$ORIGIN'" : advice(forMissing: name),
                cause: "\(chain.joined(separator: " -> ")) (not found)"
            )
        }
    }

    /// What helps wherever the image is loaded: a runner does not have the host's LD_LIBRARY_PATH.
    private static func advice(forMissing name: String) -> String {
        // musl's C library; glibc's is libc.so.6.
        guard name != "libc.so", !name.hasPrefix("libc.musl-") else {
            return "it was built for musl: build it for glibc, or link it statically"
        }
        return "install the package that has \(name), or put it beside the plugin, linked with -Wl,-rpath,'$ORIGIN'"
    }

    /// Whether a missing library is in the folder of the image that needs it, which does not look for it there.
    private static func isBesideRequester(_ member: DependencyClosure.Member, of closure: DependencyClosure) -> Bool {
        guard !member.name.contains(ascii: "/"), let requester = member.requester,
            let path = closure.members[requester].path
        else { return false }
        return FileStamp(path: "\(path.withUnmarkedPaths.rootedPath.parentPath)/\(member.name)") != nil
    }

    /// The images of a closure that need versions of a library whose symbols have none at all. The dynamic linker ends the process when
    /// it meets such a symbol (glibc, dl-lookup.c, `check_match`).
    package static func unversioned(_ closure: DependencyClosure) -> [ConnectorError] {
        var paths: [String: String] = [:]
        for member in closure.members where member.isUnversioned {
            for name in [member.name, member.soname].compactMap(\.self) { paths[name] = member.path ?? member.name }
        }
        guard !paths.isEmpty else { return [] }
        var problems: [ConnectorError] = []
        for member in closure.members where !member.isLoaded {
            guard let (image, dynamic) = member.contents else { continue }
            for need in image.versionNeeds(dynamic) {
                if let path = paths[need.library] { problems.append(unversioned(path, need, of: member.name)) }
            }
        }
        return problems
    }

    /// The error for an image that needs versions of a library without any.
    package static func unversioned(_ path: String, _ need: ELFImage.VersionNeed, of name: String) -> ConnectorError {
        let wanted = need.versions.first.map { "version \($0)" } ?? "versions"
        return ConnectorError(
            .missingSymbolVersion,
            "\(name) needs \(wanted) of \(need.library.excerpt), but \(path) has no versions",
            fix: "put the library there that the plugin was built with, or build the plugin with this one",
            cause: "the dynamic linker would end the process"
        )
    }

    /// A chain of libraries for a message: only its ends if it is long, and of a long name only its ends.
    private static func shortened(_ chain: [String]) -> [String] {
        let names = Array(chain.prefix(1)) + chain.dropFirst().map(\.excerpt)
        return names.count > 10 ? Array(names.prefix(6)) + ["…"] + Array(names.suffix(3)) : names
    }

    /// The folders outside the system's own in which an image or a library finds libraries that are not beside the image: those that an
    /// absolute path in `DT_RPATH` or `DT_RUNPATH` names, or the library's name itself.
    ///
    /// - Parameter isSought: Whether a library of this name counts.
    package static func namedFolders(
        of candidate: PluginCandidate,
        where isSought: (String) -> Bool = { _ in true }
    ) -> [String] {
        guard case .file = candidate.image, let bytes = try? ImageBytes(path: candidate.path),
            let image = try? ELFImage(bytes), let dynamic = DynamicSection(image)
        else { return [] }
        let closure = DependencyClosure(of: image, dynamic, elsewhere: true)
        let beside = Set(closure.beside.map(\.path))
        var folders: [String] = []
        for member in closure.members.dropFirst() where !beside.contains(member.path) && isSought(member.name) {
            guard let path = member.path,
                member.name.contains(ascii: "/") || member.folders.contains(where: { path == "\($0)/\(member.name)" })
            else { continue }
            let folder = path.absolutePath.parentPath
            if !folders.contains(folder) { folders.append(folder) }
        }
        return folders
    }

    /// The reason that the dynamic linker refused an image, found from the image's dependencies.
    package static func refusal(
        _ image: ELFImage,
        _ dynamic: DynamicSection,
        _ failure: DynamicLinker.Failure
    ) -> ConnectorError {
        if let fix = failure.fix {
            return ConnectorError(.loadFailed, "\(image.bytes.path) cannot be loaded: \(failure.text)", fix: fix)
        }
        if var problem = DependencyDiagnosis(DependencyClosure(of: image, dynamic)).problems.first {
            problem.cause = problem.cause.map { "\(failure.text); \($0)" } ?? failure.text
            return problem
        }
        return ConnectorError(
            .loadFailed,
            "the dynamic linker refused \(image.bytes.path)",
            fix: "correct what its reason names, and build the plugin on this system",
            cause: failure.text
        )
    }

    private mutating func checkVersions(of member: DependencyClosure.Member) {
        guard let (image, dynamic) = member.contents else { return }
        for need in image.versionNeeds(dynamic) {
            guard let provider = closure.members.first(where: { $0.name == need.library || $0.soname == need.library }),
                let (library, libraryDynamic) = provider.contents
            else { continue }
            let present = library.definedVersions(libraryDynamic)
            // The dynamic linker accepts symbols of a library that only needs versions itself.
            guard !present.isEmpty else { continue }
            let missing = need.versions.filter { !present.contains($0) }
            guard let first = missing.first else { continue }
            problems.append(
                Self.missingVersion(
                    first,
                    others: missing.count - 1,
                    of: provider,
                    present: present,
                    neededBy: member.name
                )
            )
        }
    }

    private static func missingVersion(
        _ version: String,
        others: Int,
        of library: DependencyClosure.Member,
        present: Set<String>,
        neededBy name: String
    ) -> ConnectorError {
        let family = version.prefix { $0 != "_" }
        let related = present.filter { $0.hasPrefix("\(family)_") }.sorted(by: precedes)
        let has = related.last.map { "\($0) at most" } ?? "no version of that kind"
        let fix =
            family == "GLIBC"
            ? "build the plugin on a system with \(related.last ?? "an older glibc") or older, or update this system"
            : "install a newer \(library.name), or build the plugin against the installed one"
        return ConnectorError(
            .missingSymbolVersion,
            "\(name) needs version \(version)\(others > 0 ? " and \(others) more" : "") of \(library.name), but \(library.path ?? library.name) has \(has)",
            fix: fix,
            cause: "present: \(related.suffix(12).joined(separator: ", "))"
        )
    }

    /// Compares versions number by number: `GLIBC_2.9` precedes `GLIBC_2.34`.
    private static func precedes(_ first: String, _ second: String) -> Bool {
        func numbers(_ text: String) -> [Int] {
            text.split { !$0.isASCII || !$0.isNumber }.map { Int($0) ?? .max }
        }
        return numbers(first).lexicographicallyPrecedes(numbers(second))
    }

    private mutating func checkSymbols(of member: DependencyClosure.Member) {
        guard let (image, dynamic) = member.contents, image.architecture == .host else { return }
        let (missing, count) = unsafe image.requiredSymbols(dynamic) { unsafe !isDefined($0, $1) }
        guard count > 0 else { return }
        let names = missing.prefix(3).joined(separator: ", ") + (count > 3 ? " and \(count - 3) more" : "")
        var fix = "link the library that defines \(missing[0]); -Wl,-z,defs finds this when the plugin is built"
        for library in closure.members {
            let files = library.replaced.filter { (try? ELFImage($0))?.exports(missing[0]) == true }
            guard let file = files.first else { continue }
            fix =
                "give \(file.path), which defines \(missing[0]), a soname of its own: this process has another "
                + library.name
        }
        problems.append(
            ConnectorError(
                .missingSymbol,
                "\(member.name) needs \(count == 1 ? "the symbol" : "the symbols") \(names), which no library that it "
                    + "names defines",
                fix: fix,
                cause: "undefined: \(missing.joined(separator: ", "))"
            )
        )
    }

    /// Whether the closure or the process defines a symbol; an unreadable library may define any.
    private func isDefined(_ symbol: UnsafePointer<CChar>, _ name: Span<UInt8>) -> Bool {
        if unsafe DynamicLinker.isDefinedGlobally(symbol) { return true }
        for member in closure.members {
            if let (image, dynamic) = member.contents {
                if image.exported(name, dynamic) != nil { return true }
            } else if unsafe DynamicLinker.isDefined(symbol, inLoaded: member.name) {
                return true
            }
        }
        return false
    }
}
