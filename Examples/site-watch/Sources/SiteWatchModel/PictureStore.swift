// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorHost

/// The pictures of sites, which are files of a gate. What has not changed is not read again.
public actor PictureStore {
    private let files: any Files
    private var cache: [String: (tag: String, text: String)] = [:]
    /// The largest picture, in bytes.
    private static let sizeLimit = 16 << 10

    /// Uses a gate of files.
    public init(_ files: any Files) {
        self.files = files
    }

    /// The picture of a site: lines of characters, for any platform.
    ///
    /// - Returns: Nil if the site has none.
    /// - Throws: The gate's error, unless an earlier picture is known.
    public func picture(of site: String) async throws(ConnectorError) -> String? {
        let path = "\(site).txt"
        do throws(ConnectorError) {
            let entry = try await files.head(path)
            if let known = cache[path], known.tag == entry.tag { return known.text }
            let bytes = try await files.get(path).collect(upTo: Self.sizeLimit)
            cache[path] = (entry.tag, String(decoding: bytes, as: UTF8.self))
        } catch {
            if error.code == .missing { cache[path] = nil } else if cache[path] == nil { throw error }
        }
        return cache[path]?.text
    }
}
