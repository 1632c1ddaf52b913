// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The observers of a call, by phase and in the order of registration.
struct Observers<Value: Sendable>: Sendable {
    /// Called when the call begins.
    var beginning: [@Sendable () async -> Void] = []

    /// Called with the value of a successful call.
    var success: [@Sendable (Value) async -> Void] = []

    /// Called with the error of a failed or cancelled call.
    var failure: [@Sendable (any Error) async -> Void] = []

    /// Called last, whatever the outcome.
    var completion: [@Sendable () async -> Void] = []

    /// Combines these observers with others, which are called after them.
    func followed(by others: Observers) -> Observers {
        Observers(
            beginning: beginning + others.beginning,
            success: success + others.success,
            failure: failure + others.failure,
            completion: completion + others.completion
        )
    }

    /// Reports the beginning of the call.
    func begin() async {
        for observer in beginning { await observer() }
    }

    /// Reports the outcome, then the completion.
    func end(_ result: Result<Value, any Error>) async {
        switch result {
        case .success(let value):
            for observer in success { await observer(value) }
        case .failure(let error):
            for observer in failure { await observer(error) }
        }
        for observer in completion { await observer() }
    }
}
