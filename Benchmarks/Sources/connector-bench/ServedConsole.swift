// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorConsoleWeb
internal import ConnectorServices

/// A console of this process, on a port of its own.
struct ServedConsole: Sendable {
    /// The token that lets programs in.
    static let token = "the token of the benchmark"
    /// Where it is, without a slash at the end.
    let url: String
    /// The link that lets one browser in.
    let link: String
    private let serving: Task<Void, any Error>

    /// Begins to serve.
    ///
    /// - Parameter serve: Serves until its task is cancelled.
    init(
        _ serve:
            @escaping @Sendable (_ options: WebConsole.Options, _ announce: @escaping @Sendable (String) -> Void)
            async throws -> Void
    ) async throws {
        let (links, announced) = AsyncStream.makeStream(of: String.self)
        var options = WebConsole.Options()
        options.token = Secret(Self.token)
        serving = Task { [options] in
            defer { announced.finish() }
            try await serve(options) { announced.yield($0) }
        }
        var first: String?
        for await link in links {
            first = link
            break
        }
        guard let link = first, let end = link.firstIndex(of: "?") else { throw Failure("the console is not served") }
        self.link = link
        url = String(link[..<link.index(before: end)])
    }

    /// Stops.
    func close() async {
        serving.cancel()
        _ = await serving.result
    }
}
