// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHost
import ConnectorHostTesting
import Testing

/// The suite for stores of files finds out what a store does wrong.
@Suite struct FilesConformanceTests {
    /// A store that breaks one rule of the capability.
    private struct FaultyFiles: Files {
        enum Fault: CaseIterable {
            case losesAByte, forgetsTags, ignoresConditions, ignoresAfter, keepsHalf, repeatsAPart, neverEnds

            /// A part of what the suite says.
            var finding: String {
                switch self {
                case .losesAByte: "did not come back as they were put"
                case .forgetsTags: "four contents had 1 tags"
                case .ignoresConditions: "a put where there must be no file, and is one succeeded"
                case .ignoresAfter: "after \"z/1\" in pages of"
                case .keepsHalf: "head of a file whose put failed succeeded"
                case .repeatsAPart: "\(FileEntry.partLimit + 7) bytes did not come back as they were put"
                case .neverEnds: "has more still after all files were removed"
                }
            }
        }

        let fault: Fault
        private let memory = InMemoryFiles()

        init(_ fault: Fault) {
            self.fault = fault
        }

        private func seen(_ entry: FileEntry) -> FileEntry {
            var entry = entry
            if fault == .forgetsTags { entry.tag = "same" }
            return entry
        }

        func head(_ path: String, options: CallOptions) async throws(ConnectorError) -> FileEntry {
            seen(try await memory.head(path))
        }

        func list(
            prefix: String,
            after: String,
            limit: Int,
            options: CallOptions
        ) async throws(ConnectorError) -> FilePage {
            var page = try await memory.list(prefix: prefix, after: fault == .ignoresAfter ? "" : after, limit: limit)
            if fault == .neverEnds { page.hasMore = true }
            return page
        }

        func put(
            _ path: String,
            _ source: FileSource,
            contentType: String?,
            condition: FileCondition,
            options: CallOptions,
            progress: (@Sendable (FileProgress) -> Void)?
        ) async throws(ConnectorError) -> FileEntry {
            let condition = fault == .ignoresConditions ? .any : condition
            do throws(ConnectorError) {
                var source = source
                if fault == .repeatsAPart {
                    var content = try await source.collect()
                    let rest = max(0, content.count - FileEntry.partLimit)
                    content.replaceSubrange((content.count - rest)..., with: Array(content.prefix(rest)))
                    source = .bytes(content)
                }
                return seen(try await memory.put(path, source, contentType: contentType, condition: condition))
            } catch {
                if fault == .keepsHalf, error.code == .failed { try await memory.put(path, .bytes([1])) }
                throw error
            }
        }

        func get(
            _ path: String,
            range: Range<UInt64>?,
            options: CallOptions,
            progress: (@Sendable (FileProgress) -> Void)?
        ) async throws(ConnectorError) -> FileContents {
            let contents = try await memory.get(path, range: range)
            guard fault == .losesAByte, contents.range.count > 1 else { return contents }
            return try await memory.get(path, range: contents.range.lowerBound..<contents.range.upperBound - 1)
        }

        func remove(_ path: String, options: CallOptions) async throws(ConnectorError) {
            try await memory.remove(path)
        }

        func copy(
            _ source: String,
            to destination: String,
            options: CallOptions
        ) async throws(ConnectorError) -> FileEntry {
            seen(try await memory.copy(source, to: destination))
        }
    }

    @Test(arguments: FaultyFiles.Fault.allCases)
    private func `a store that breaks a rule is found out`(_ fault: FaultyFiles.Fault) async {
        let findings = await FilesConformance.check(FaultyFiles(fault))
        #expect(findings.contains { $0.message.contains(fault.finding) }, "\(findings)")
    }
}
