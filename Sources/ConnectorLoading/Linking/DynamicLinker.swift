// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The system's dynamic linker, for plugins and their libraries.
package enum DynamicLinker {
    /// The linker's message, verbatim.
    package struct Failure: Error {
        /// The text of `dlerror()`.
        package var text: String
        /// The remedy, if the reason is not in the image; nil otherwise.
        package var fix: String?
    }

    /// Loads an image; its constructors run.
    ///
    /// Binds all symbols immediately, because a missing one would otherwise end the process at its first call. The
    /// image's symbols are not visible to other images. The image is never unloaded: see ``LoadedImage``.
    package static func load(path: String) throws(Failure) -> UnsafeMutableRawPointer {
        _ = unsafe dlerror()
        guard let handle = unsafe dlopen(path, RTLD_NOW | RTLD_LOCAL) else {
            throw Failure(
                text: unsafe dlerror().map { unsafe String(cString: $0) } ?? "dlopen failed without a reason",
                // The linker opens files itself, and names the reason only in words.
                fix: DescriptorLimit.hasRoom(for: 1) ? nil : SystemError(EMFILE).limitRemedy
            )
        }
        return unsafe handle
    }

    /// Whether a loaded library exports a symbol, by the library's name; false if it is not loaded.
    package static func isDefined(_ symbol: UnsafePointer<CChar>, inLoaded name: String) -> Bool {
        guard let handle = unsafe dlopen(name, RTLD_LAZY | RTLD_NOLOAD) else { return false }
        // Balances the reference of RTLD_NOLOAD; the library stays loaded.
        defer { _ = unsafe dlclose(handle) }
        return unsafe dlsym(handle, symbol) != nil
    }

    /// Whether the process has a library of this name; if so, pins it for the life of the process.
    package static func keep(loaded name: String) -> Bool {
        unsafe dlopen(name, RTLD_LAZY | RTLD_NOLOAD) != nil
    }

    /// The address of a symbol exported by an image or its dependencies; nil if there is none.
    package static func symbol(_ name: String, in handle: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        unsafe dlsym(handle, name)
    }

    /// Whether the process itself exports a symbol to the images that it loads.
    package static func isDefinedGlobally(_ name: UnsafePointer<CChar>) -> Bool {
        unsafe globalSymbol(name) != nil
    }

    /// The address of a symbol of the process itself.
    package static func globalSymbol(_ name: UnsafePointer<CChar>) -> UnsafeMutableRawPointer? {
        #if canImport(Glibc)
            unsafe dlsym(nil, name)
        #else
            unsafe dlsym(UnsafeMutableRawPointer(bitPattern: -2), name)
        #endif
    }
}
