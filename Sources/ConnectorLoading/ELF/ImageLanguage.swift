// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension ELFImage {
    /// The language of an image, guessed from traces of its compiler: `swift`, `rust`, `c++` or `c`.
    ///
    /// The manifest, if it names a language, takes precedence.
    package func language(_ dynamic: DynamicSection?) -> String {
        if containsSwiftMetadata(dynamic) { return "swift" }
        let needed = dynamic.map(neededLibraries) ?? []
        if let comment = section(named: ".comment"), comment.type != ELFConstant.emptySection,
            let text = bytes.copy(at: comment.offset, count: min(comment.size, 4096)),
            String(decoding: text, as: UTF8.self).contains("rustc version")
        {
            return "rust"
        }
        return needed.contains { $0.hasPrefix("libstdc++.so") || $0.hasPrefix("libc++.so") } ? "c++" : "c"
    }

    /// Whether the Swift runtime registers metadata of this image, which then can never be unloaded.
    package func containsSwiftMetadata(_ dynamic: DynamicSection?) -> Bool {
        if hasSection(prefixed: "swift5_") { return true }
        return dynamic.map(neededLibraries)?.contains { $0.hasPrefix("libswiftCore.so") } ?? false
    }
}
