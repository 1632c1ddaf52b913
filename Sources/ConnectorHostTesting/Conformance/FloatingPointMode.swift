// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// How a thread computes with floating-point numbers: how it rounds, what traps, and what becomes of denormals.
struct FloatingPointMode {
    private var environment = fenv_t()

    /// What a function has done that left another mode, as the predicate of a sentence.
    static let change = "returned with another floating-point mode"

    /// The mode of the calling thread.
    static var current: FloatingPointMode {
        var mode = FloatingPointMode()
        unsafe fegetenv(&mode.environment)
        return mode
    }

    /// Gives the calling thread this mode again.
    ///
    /// - Returns: Whether the thread had another one.
    func restore() -> Bool {
        guard Self.current.control != control else { return false }
        var environment = environment
        unsafe fesetenv(&environment)
        return true
    }

    /// The bits that set the mode, without those that say what happened in earlier computations.
    private var control: UInt64 {
        #if arch(x86_64) && canImport(Glibc)
            UInt64(environment.__control_word) << 32 | UInt64(environment.__mxcsr & ~0x3F)
        #elseif arch(x86_64)
            UInt64(environment.__control) << 32 | UInt64(environment.__mxcsr & ~0x3F)
        #else
            UInt64(environment.__fpcr)
        #endif
    }
}
