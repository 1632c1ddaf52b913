// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorLoading
internal import ConnectorManifest
internal import ConnectorPlatform
internal import Logging

/// What a plan is made from. Blocks while files are read.
extension Reloader.Dependencies {
    /// Compares what runs with another configuration.
    func plan(to next: NextConfiguration) -> Plan {
        let tree = current.tree
        var before = running.resolved
        let connectors = next.resolved.configuration.enabledConnectors
        let known = Dictionary(before.runningConnectors.map { ($0.path, $0) }) { first, _ in first }
        let moves = next.resolved.configuration.moves(from: known, to: Set(connectors.map(\.path)))
        var after = PlanSide(next.resolved, digest: next.digest)
        var images: [String: PlannedImage] = [:]
        lazy var loadedFiles = tree.loadedFiles
        for connector in connectors where connector.isOwnLeaf {
            guard case .success(let candidate)? = next.plans[connector.path]?.plugin, case .file = candidate.image
            else {
                continue
            }
            let node = tree[moves[connector.path] ?? connector.path]
            let earlier = node.flatMap { try? $0.plan?.plugin.get() }
            // A runner can take up other libraries beside an image; this process keeps those that it has loaded.
            let hasOtherLibraries = node?.gate?.hasOtherLibraries ?? false
            let isSame =
                earlier?.path == candidate.path && earlier?.stamp == candidate.stamp && !hasOtherLibraries
            let content = node?.gate?.content
            // Nearly all connectors end here: with the same image on both sides, nothing differs and nothing is loaded.
            if isSame, content != nil { continue }
            let path = next.shownPath(of: candidate)
            // Only a file that has changed is read.
            let mark = isSame ? "" : digests.digest(of: candidate) ?? ""
            let running = isSame ? "" : content?.sha256 ?? "not loaded"
            if let node {
                images[node.path] = PlannedImage(path: path, mark: String(running.prefix(16)), isLoaded: true)
            }
            let isLoaded =
                content != nil && mark == running
                || candidate.stamp.flatMap { loadedFiles[candidate.path]?.contains($0) } == true
            let shown = String(mark.prefix(16)) + (hasOtherLibraries ? ", with other libraries" : "")
            var image = PlannedImage(path: path, mark: shown, isLoaded: isLoaded)
            if !isLoaded {
                image.size = candidate.stamp?.size ?? 0
                image.staticTLS = PluginLoader.staticTLS(of: candidate)
                image.staticTLSLeft = LoadedImages.shared.usage.staticTLSLeft
            }
            after.images[connector.path] = image
        }
        noteKeptLibraries()
        // Secrets may have been read again since the configuration was read.
        for node in tree.nodes {
            guard let gate = node.gate, case .success(var leaf)? = before.leaves[node.path],
                leaf.secrets != gate.secrets
            else { continue }
            leaf.use(gate.secrets)
            before.leaves[node.path] = .success(leaf)
        }
        var side = PlanSide(before, digest: running.digest, images: images)
        if outbox.outbox.isOpen {
            for path in Set(tree.queues.map(\.path)).union(outbox.outbox.targetPaths) {
                side.queued[path] = outbox.outbox.statistics(of: path)?.queued
            }
        }
        return Plan(from: side, to: after, fingerprint: fingerprint.callAsFunction)
    }

    /// Logs which libraries beside plugins have changed although this process cannot take them up.
    private func noteKeptLibraries() {
        let files = BroughtLibraries.shared.changedFiles
        guard !files.isEmpty else { return }
        gates.logger.warning(
            "this process keeps earlier libraries of plugins; restart it, or isolate the plugins, to take up the changed files",
            metadata: ["files": "\(files.joined(separator: ", "))"]
        )
    }

    /// The digests of everything that a plan depends on.
    func basis(of next: NextConfiguration) -> Plan.Basis {
        var files: [String: String] = [:]
        for (index, text) in next.resolved.configuration.texts.enumerated() {
            let name = text.file.isEmpty ? "of the application, part \(index + 1)" : text.file
            files[name] = RunningConfiguration.digest(of: text.bytes)
        }
        if let lock = next.resolved.configuration.lock {
            files[lock.file.withGivenPaths] = RunningConfiguration.digest(of: Array(lock.text.utf8))
        }
        var images: [String: String] = [:]
        for connector in next.resolved.configuration.enabledConnectors where connector.isOwnLeaf {
            guard let candidate = try? next.plans[connector.path]?.plugin.get() else { continue }
            let path = next.shownPath(of: candidate)
            if images[path] == nil { images[path] = digests.digest(of: candidate) }
        }
        return Plan.Basis(
            running: running.identity(fingerprint.callAsFunction),
            files: files,
            variables: next.resolved.variables(fingerprint.callAsFunction),
            secrets: next.resolved.secrets(fingerprint.callAsFunction),
            images: images
        )
    }
}

extension Tree {
    /// The image files that the gates have loaded: their stamps then, by path.
    fileprivate var loadedFiles: [String: Set<FileStamp>] {
        var files: [String: Set<FileStamp>] = [:]
        for node in nodes {
            guard let gate = node.gate, gate.content != nil, let candidate = try? gate.plan.plugin.get(),
                let stamp = candidate.stamp
            else { continue }
            files[candidate.path, default: []].insert(stamp)
        }
        return files
    }
}
