// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The effect of a relocation, for the types that linkers put into shared libraries.
enum RelocationKind {
    /// Has no effect.
    case none
    /// Writes the address of a symbol.
    case symbol
    /// Writes the address of a symbol into the global offset table.
    case slot
    /// Writes the address of a function into the procedure linkage table.
    case jump
    /// Writes an address within the image.
    case relative
    /// Calls a function within the image, and writes the address that it returns.
    case indirect
    /// Writes one word about a thread-local variable.
    case threadLocal
    /// Writes two words about a thread-local variable.
    case threadLocalDescriptor
    /// Writes four bytes.
    case small
    /// Copies a variable into a program; useless in a library.
    case copy

    /// Reads a relocation type of this processor (`elf.h`); nil for an unknown one, which the dynamic linker refuses.
    init?(_ type: UInt32) {
        #if arch(x86_64)
            switch type {
            case 0: self = .none
            case 1, 33, 38: self = .symbol
            case 2, 10, 11, 32: self = .small
            case 5: self = .copy
            case 6: self = .slot
            case 7: self = .jump
            case 8: self = .relative
            case 16, 17, 18: self = .threadLocal
            case 36: self = .threadLocalDescriptor
            case 37: self = .indirect
            default: return nil
            }
        #elseif arch(arm64)
            switch type {
            case 0: self = .none
            case 257: self = .symbol
            case 258: self = .small
            case 1024: self = .copy
            case 1025: self = .slot
            case 1026: self = .jump
            case 1027: self = .relative
            case 1028, 1029, 1030: self = .threadLocal
            case 1031: self = .threadLocalDescriptor
            case 1032: self = .indirect
            default: return nil
            }
        #else
            return nil
        #endif
    }

    /// Whether this processor's relocation types are known.
    static var isKnownHere: Bool {
        #if arch(x86_64) || arch(arm64)
            true
        #else
            false
        #endif
    }

    /// The number of bytes that the relocation writes.
    var width: UInt64 {
        switch self {
        case .none: 0
        case .small: 4
        case .threadLocalDescriptor: 16
        default: 8
        }
    }
}
