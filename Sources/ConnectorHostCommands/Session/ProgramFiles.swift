// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// The files that are installed with the program, found relative to it.
enum ProgramFiles {
    /// The path of the program, with symbolic links resolved.
    static var program: String {
        #if os(Linux)
            "/proc/self/exe".realPath
        #else
            CommandLine.arguments.first?.absolutePath.realPath ?? ""
        #endif
    }

    /// The package that authors in Swift depend on: `PREFIX/share/connector-host/kit`, or the one in the checkout in which the
    /// program was built.
    ///
    /// - Throws: `missing` if there is none.
    static func kit() throws(ConnectorError) -> String {
        var folder = program.parentPath
        // The program is in PREFIX/libexec/connector-host.
        let installed = "\(folder.parentPath.parentPath)/share/connector-host/kit"
        if exists("\(installed)/Package.swift") { return installed }
        while folder != "/", folder != "." {
            let kit = "\(folder)/Bindings/swift"
            if exists("\(kit)/Package.swift") { return kit }
            folder = folder.parentPath
        }
        throw ConnectorError(
            .missing,
            "the kit for plugins in Swift is not beside this program",
            fix: "install connector-host with \"make install\", or name Bindings/swift of its sources with --kit"
        )
    }

    /// Checks that a folder has a package, as the kit is one.
    ///
    /// - Throws: `missing` if it has none.
    static func checkKit(at folder: String) throws(ConnectorError) {
        guard !exists("\(folder)/Package.swift") else { return }
        throw ConnectorError(
            .missing,
            "the kit for plugins in Swift is not in \(folder), which has no Package.swift",
            fix: "name Bindings/swift of the sources of connector-host with --kit, or leave it out"
        )
    }

    private static func exists(_ path: String) -> Bool { unsafe access(path, R_OK) == 0 }
}
