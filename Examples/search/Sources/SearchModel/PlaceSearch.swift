// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorHost
public import Integrator
internal import Synchronization

/// Finds places while a user types.
///
/// Places from an earlier answer show at once, and the geocoder's answer follows when typing pauses. An answer to text that has changed
/// since is never shown.
public final class PlaceSearch: Sendable {
    /// What to show for a text.
    public enum Suggestions: Sendable, Equatable {
        /// What the geocoder answered last time.
        case cached([String])
        /// What it answers now.
        case found([String])
        /// Why it does not answer.
        case failed(String)
    }

    private let answers: CallFlow<String, [String]>
    private let cache = Mutex<[String: [String]]>([:])
    private let show: @Sendable (_ text: String, Suggestions) -> Void

    /// Creates a search that has nothing cached.
    ///
    /// - Parameters:
    ///   - pause: How long typing must pause before the geocoder is asked.
    ///   - clock: Measures the pause.
    ///   - show: Called in order, on any thread.
    public init(
        _ geocoder: any Geocoder,
        pause: Duration = .milliseconds(200),
        clock: any Clock<Duration> = ContinuousClock(),
        show: @escaping @Sendable (_ text: String, Suggestions) -> Void
    ) {
        answers = CallFlow(execution: .latest(debounce: pause), clock: clock) { text in
            try await geocoder.geocode(text, limit: 5).compactMap(\.formattedAddress)
        }
        self.show = show
    }

    /// Searches for the text as it is after a keystroke.
    ///
    /// - Returns: The search, which the next keystroke cancels.
    @discardableResult
    public func type(_ text: String) -> CallHandle<[String]> {
        if let places = cache.withLock({ $0[text] }) { show(text, .cached(places)) }
        return answers.prepare(text)
            .retry(attempts: 2, delay: .constant(.milliseconds(100))) { ($0 as? ConnectorError)?.isRetryable ?? false }
            .onSuccess { [self] places in
                cache.withLock { $0[text] = places }
                show(text, .found(places))
            }
            .onFailure { [self] error in
                if let error = error as? ConnectorError, error.code != .cancelled {
                    show(text, .failed(error.message))
                }
            }
            .call()
    }
}
