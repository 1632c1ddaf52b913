// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Random numbers that are the same in every run (SplitMix64, Steele et al. 2014), so that a failure can be repeated.
package struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    /// Starts a sequence.
    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}

/// How many mutants each mutator makes: `CONNECTOR_FUZZ_ROUNDS`, or few.
package var fuzzRounds: Int { number("CONNECTOR_FUZZ_ROUNDS") ?? 60 }

/// The seed of the mutators' random numbers: `CONNECTOR_FUZZ_SEED`, or the same in every run.
package var fuzzSeed: UInt64 { UInt64(number("CONNECTOR_FUZZ_SEED") ?? 1) }

private func number(_ variable: String) -> Int? {
    unsafe getenv(variable).flatMap { unsafe Int(String(cString: $0)) }.flatMap { $0 >= 0 ? $0 : nil }
}
