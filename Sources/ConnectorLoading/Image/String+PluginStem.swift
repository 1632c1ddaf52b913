// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform

extension String {
    /// The name of a plugin in the name of its image: `x` for `…/libx.so`, `…/libx.so.1`, `…/libx.dylib` and `…/x.so`.
    package var pluginStem: String {
        let name = lastPathComponent
        var end = name.endIndex
        while let dot = name.utf8[..<end].lastIndex(of: UInt8(ascii: ".")) {
            let version = name.utf8[dot..<end].dropFirst()
            guard !version.isEmpty, version.allSatisfy(\.isDigit) else { break }
            end = dot
        }
        let ending = [".so", ".dylib"].first { name[..<end].hasSuffix($0) }
        let stem = ending.map { name[..<end].dropLast($0.count) } ?? name[...]
        return String(stem.hasPrefix("lib") ? stem.dropFirst(3) : stem)
    }
}
