// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Integrator
import Testing

/// The examples of the documentation page, compiled and run.
@Suite(.timeLimit(.minutes(10))) struct DocumentationTests {
    /// Thrown when a page has nothing on it.
    struct EmptyPage: Error {}

    /// The names found by a search.
    struct Page: Model {
        /// In the order of the text.
        var names: [String]

        /// Splits the text at its commas.
        init(from text: String) throws {
            guard !text.isEmpty else { throw EmptyPage() }
            names = text.split(separator: ",").map(String.init)
        }
    }

    /// Stands for what a user sees.
    struct Screen {
        /// What was shown.
        let journal = Journal()

        /// Shows a line.
        func show(_ line: String) { journal.note(line) }
    }

    let screen = Screen()
    let provider = ClosureProvider { (query: String) in "\(query) pie,\(query) tree" }

    @Test func `a search reports to the screen in order`() async throws {
        let clock = ManualClock()
        let search = CallFlow(
            provider: provider,
            model: Page.self,
            execution: .latest(debounce: .milliseconds(300)),
            clock: clock
        )
        let call = search.prepare("apple")
            .onBeginning { [screen] in screen.show("searching") }
            .onSuccess { [screen] page in screen.show(page.names.joined(separator: " and ")) }
            .onFailure { [screen] error in screen.show("failed: \(error)") }
            .onCompletion { [screen] in screen.show("done") }
            .retry(attempts: 3, delay: .exponential(.seconds(1)))
            .call()
        #expect(await clock.sleeper() == .milliseconds(300))
        clock.advance(by: .milliseconds(300))
        #expect(try await call.value.names == ["apple pie", "apple tree"])
        #expect(screen.journal.lines == ["searching", "apple pie and apple tree", "done"])
    }

    @Test func `a cache is shown before the server`() async {
        let cache = CallFlow(provider: ClosureProvider { (_: String) in "old" }, model: Page.self)
        let server = CallFlow(provider: provider, model: Page.self)
        await cache.prepare("apple")
            .onSuccess { [screen] page in screen.show("\(page.names.count) names") }
            .thenRecall(server)
            .call()
            .finish()
        #expect(screen.journal.lines == ["1 names", "2 names"])
    }

    @Test func `one text is asked of two providers`() async throws {
        let names = ClosureProvider { (text: String) in text.split(separator: ",").map(String.init) }
        let length = ClosureProvider { (text: String) in text.count }
        let split = ClosureProvider { (text: String) in (text, text) }
        let both = CallFlow(provider: split >>>> names >><< length)
        let (list, count) = try await both.call("apple,pear")
        #expect(list == ["apple", "pear"])
        #expect(count == 10)
    }
}
