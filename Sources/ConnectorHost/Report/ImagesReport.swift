// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorLoading

/// The plugin images that a process has loaded. They stay in memory until the process ends, even if nothing uses them
/// any longer.
public struct ImagesReport: Sendable, Hashable {
    /// The number of images.
    public var count: Int
    /// The total size of their files in bytes, which is about what the images take in memory.
    public var bytes: Int
    /// How many of them take static TLS, which is scarce in a process.
    public var staticTLSCount = 0
    /// The bytes of static TLS that they take.
    public var staticTLS = 0
    /// The bytes of static TLS available for them; nil where there is no limit.
    public var staticTLSLimit: Int?

    /// Describes what this process has loaded; nil if it has loaded nothing.
    init?(_ usage: LoadedImages.Usage) {
        guard usage.count > 0 else { return nil }
        (count, bytes) = (usage.count, usage.bytes)
        (staticTLSCount, staticTLS) = (usage.staticTLSCount, usage.staticTLS)
        staticTLSLimit = StaticTLS.limit
    }

    /// The images' part of the report.
    var json: JSONValue {
        var object: JSONObject = ["count": .integer(Int64(count)), "bytes": .integer(Int64(bytes))]
        if staticTLSCount > 0 {
            var part: JSONObject = ["count": .integer(Int64(staticTLSCount)), "bytes": .integer(Int64(staticTLS))]
            part["limit"] = staticTLSLimit.map { .integer(Int64($0)) }
            object["staticTLS"] = .object(part)
        }
        return .object(object)
    }

    /// Reads the images' part; nil if a member is missing.
    init?(json: JSONValue) {
        guard let count = json.count("count"), let bytes = json.count("bytes") else { return nil }
        (self.count, self.bytes) = (count, bytes)
        guard let part = json["staticTLS"] else { return }
        (staticTLSCount, staticTLS) = (part.count("count") ?? 0, part.count("bytes") ?? 0)
        staticTLSLimit = part.count("limit")
    }
}

extension Report {
    /// A sentence for people about the images in the host's memory that no gate uses any longer; nil if there are none, and
    /// while a gate opens, which does not say yet what it uses.
    package var unusedImagesText: String? {
        guard !gates.contains(where: { $0.policy == nil && $0.state == .opening }) else { return nil }
        guard let images else { return nil }
        let plugins = gates.filter { $0.isolation != .process }.compactMap(\.plugin)
        // The same bytes are the same object; to compare their digests would take as long as loading them.
        let contents = Set(plugins.compactMap { $0.content.map(ObjectIdentifier.init) })
        let used = contents.count + Set(plugins.compactMap(\.reportedDigest)).count
        guard images.count > used else { return nil }
        let unused = images.count - used
        let all = images.count == 1 ? "1 image" : "\(images.count) images"
        return "\(all) of plugins in memory, \(Int64(images.bytes).megabytes): "
            + "\(unused) that no gate uses \(unused == 1 ? "stays" : "stay") until the process ends"
    }
}

extension ImageContent {
    /// The warnings about an image in this process: about the libraries that it uses, and about static TLS.
    var loadingWarnings: [String] {
        LoadedImages.shared.warnings(of: self) + [staticTLSWarning].compactMap(\.self)
    }

    /// The warning that an image's successors will soon find no static TLS; nil if there is nothing to warn about.
    private var staticTLSWarning: String? {
        let usage = LoadedImages.shared.usage
        guard usage.isStaticTLSHalfUsed, let limit = StaticTLS.limit, LoadedImages.shared.staticTLS(of: self) > 0
        else { return nil }
        return
            "\(usage.staticTLSCount) loaded images take \(usage.staticTLS) of \(limit) bytes of static TLS, which come back only with "
            + "a restart"
    }
}
