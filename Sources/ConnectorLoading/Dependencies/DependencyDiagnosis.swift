// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

/// The dynamic linker's objections to an image, found without running it and phrased to help.
package struct DependencyDiagnosis {
    private let closure: DependencyClosure
    private let path: String
    /// Every reason: missing libraries, then versions, then symbols.
    private(set) var problems: [ConnectorError] = []

    /// Examines an image with all its dependencies.
    package init(_ closure: DependencyClosure) {
        self.closure = closure
        path = closure.members.first?.name ?? ""
        for index in closure.members.indices where closure.members[index].isMissing { reportMissing(index) }
        for member in closure.members where !member.isLoaded { checkVersions(of: member) }
        // A missing library could define any symbol.
        guard problems.isEmpty else { return }
        for member in closure.members where !member.isLoaded { checkSymbols(of: member) }
    }

    private mutating func reportMissing(_ index: Int) {
        let chain = closure.chain(to: index)
        let name = closure.members[index].name
        problems.append(
            ConnectorError(
                .missingDependency,
                chain.dropLast().joined(separator: " needs ") + " needs \(name), which is not on this system",
                fix: "install the package that has \(name), or add its folder to LD_LIBRARY_PATH",
                cause: "\(chain.joined(separator: " -> ")) (not found)"
            )
        )
    }

    private mutating func checkVersions(of member: DependencyClosure.Member) {
        guard let (image, dynamic) = member.contents else { return }
        for need in image.versionNeeds(dynamic) {
            guard let provider = closure.members.first(where: { $0.name == need.library || $0.soname == need.library }),
                let (library, libraryDynamic) = provider.contents
            else { continue }
            let present = library.definedVersions(libraryDynamic)
            // A library without any versions only makes the dynamic linker print a warning.
            guard !present.isEmpty else { continue }
            for version in need.versions where !present.contains(version) {
                problems.append(Self.missingVersion(version, of: provider, present: present, neededBy: member.name))
            }
        }
    }

    private static func missingVersion(
        _ version: String,
        of library: DependencyClosure.Member,
        present: [String],
        neededBy name: String
    ) -> ConnectorError {
        let family = version.prefix { $0 != "_" }
        let related = present.filter { $0.hasPrefix("\(family)_") }.sorted(by: precedes)
        let has = related.last.map { "\($0) at most" } ?? "no version of that kind"
        let fix =
            family == "GLIBC"
            ? "build the plugin on a system with \(related.last ?? "an older glibc") or older, or update this system"
            : "install a newer \(library.name), or build the plugin against the one that is here"
        return ConnectorError(
            .missingSymbolVersion,
            "\(name) needs version \(version) of \(library.name), but \(library.path ?? library.name) has \(has)",
            fix: fix,
            cause: "present: \(related.suffix(12).joined(separator: ", "))"
        )
    }

    /// Compares versions number by number: `GLIBC_2.9` stands before `GLIBC_2.34`.
    private static func precedes(_ first: String, _ second: String) -> Bool {
        func numbers(_ text: String) -> [Int] {
            text.split { !$0.isASCII || !$0.isNumber }.map { Int($0) ?? .max }
        }
        return numbers(first).lexicographicallyPrecedes(numbers(second))
    }

    private mutating func checkSymbols(of member: DependencyClosure.Member) {
        guard let (image, dynamic) = member.contents, image.architecture == .host else { return }
        let missing = image.requiredSymbols(dynamic).filter { !isDefined($0) }
        guard !missing.isEmpty else { return }
        let names =
            missing.prefix(3).joined(separator: ", ") + (missing.count > 3 ? " and \(missing.count - 3) more" : "")
        problems.append(
            ConnectorError(
                .missingSymbol,
                "\(member.name) needs \(missing.count == 1 ? "the symbol" : "the symbols") \(names), which no library that it "
                    + "names defines",
                fix: "link the library that defines \(missing[0]); -Wl,-z,defs finds this when the plugin is built",
                cause: "undefined: \(missing.prefix(20).joined(separator: ", "))"
            )
        )
    }

    /// Whether the closure or the process defines a symbol; an unreadable library may define any.
    private func isDefined(_ symbol: String) -> Bool {
        if DynamicLinker.isDefinedGlobally(symbol) { return true }
        return closure.members.contains { member in
            guard let (image, dynamic) = member.contents else {
                return DynamicLinker.isDefined(symbol, inLoaded: member.name)
            }
            return image.exports(symbol, dynamic)
        }
    }
}
