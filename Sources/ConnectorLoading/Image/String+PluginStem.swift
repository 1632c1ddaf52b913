// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorPlatform

extension String {
    /// The name of a plugin in the name of its image: `x` for `…/libx.so`, `…/libx.so.1`, `…/libx.dylib` and `…/x.so`.
    package var pluginStem: String {
        var name = Substring(lastPathComponent)
        if let ending = name.firstRange(of: ".so") ?? name.firstRange(of: ".dylib") {
            name = name[..<ending.lowerBound]
        }
        return String(name.hasPrefix("lib") ? name.dropFirst(3) : name)
    }
}
