// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorLoading
internal import ConnectorPlatform
internal import Synchronization

#if canImport(Glibc)
    import Glibc
    // The compiler may take `stat` from this module.
    import SwiftOverlayShims
#else
    import Darwin
#endif

/// The program `connector-runner`, held open so that it can be started again whatever happens to its path.
///
/// It would run with the rights of the host before it confines itself, so it is started from sealed bytes once there are some, and from a
/// file that has been written into never. macOS starts programs by their paths only, so there the file must still be the one at its
/// path.
package final class RunnerProgram: Sendable {
    /// The path that it was opened by.
    package let path: String
    /// The program's file, open for reading.
    private let file: Image
    /// Its size and when its content changed last, as they were when it was opened. To replace or remove a file changes neither.
    private let content: [Int]?
    /// The directory of the file, relative to which the program may find its libraries.
    private let directory: String
    /// The program's bytes in a sealed file in memory; nil as long as ``seal()`` has made none.
    private let sealed = Mutex<Image?>(nil)

    /// What a runner is started from.
    final class Image: Sendable {
        /// The program's bytes.
        let file: OwnedDescriptor
        /// The variable of its environment by which it finds its libraries; empty for none.
        let variable: String

        fileprivate init(_ file: consuming OwnedDescriptor, variable: String = "") {
            self.file = file
            self.variable = variable
        }
    }

    /// The environment variable that names the program.
    package static let variable = "CONNECTOR_RUNNER"
    private static let name = "connector-runner"

    /// Opens a program.
    ///
    /// - Throws: `unavailable` if the file cannot be opened.
    package init(path: String) throws(ConnectorError) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure(path, errno) }
        self.path = path
        file = Image(OwnedDescriptor(descriptor))
        content = Self.content(of: FileStamp(descriptor: descriptor))
        directory = path.realPath.parentPath
    }

    private static func content(of stamp: FileStamp?) -> [Int]? { stamp.map { [$0.size, $0.modified] } }

    // MARK: Bytes

    /// What the next runner is started from: the sealed bytes, or else the file, if it has not been written into since it was opened.
    ///
    /// - Throws: `unavailable` if the file has been written into, or, on macOS, if another file is at the path by now.
    func image() throws(ConnectorError) -> Image {
        if let image = sealed.withLock(\.self) { return image }
        let opened = FileStamp(descriptor: file.file.number)
        guard Self.content(of: opened) == content else {
            throw hasChanged(
                "overwritten",
                fix: "start the host again; to install a program, write another file and rename it"
            )
        }
        #if !os(Linux)
            let found = FileStamp(path: path)
            guard found?.file == opened?.file else {
                throw hasChanged("replaced", fix: "start the host again")
            }
        #endif
        return file
    }

    private func hasChanged(_ how: String, fix: String) -> ConnectorError {
        ConnectorError(.unavailable, "\(path) has been \(how) since the host opened it", fix: fix, isRetryable: true)
    }

    /// A sealed copy, and what it was made from.
    private struct SealedCopy: Sendable {
        var stamp: FileStamp
        var directory: String
        weak var image: Image?
    }

    /// The latest copy, for as long as a host has it. All hosts of the process share it: it has the size of the program, and they nearly
    /// always have the same one.
    private static let shared = Mutex<SealedCopy?>(nil)

    /// Copies the program into a sealed file in memory, from which later runners are started, unless another host has done so. Takes some
    /// milliseconds.
    ///
    /// Not an error: without room, without such files, or once the file has been written into, ``image()`` keeps checking that.
    func seal() {
        #if os(Linux)
            // A host that seals meanwhile waits for the copy instead of making another.
            let image = Self.shared.withLock { shared -> Image? in
                guard let stamp = FileStamp(descriptor: file.file.number), Self.content(of: stamp) == content else {
                    return nil
                }
                if let last = shared, last.stamp == stamp, last.directory == directory, let image = last.image {
                    return image
                }
                guard let image = sealedImage(of: stamp) else { return nil }
                shared = SealedCopy(stamp: stamp, directory: directory, image: image)
                return image
            }
            if let image { sealed.withLock { $0 = image } }
        #endif
    }

    #if os(Linux)
        /// A sealed copy of the file; nil if there can be none, or if the file was written into meanwhile.
        private func sealedImage(of stamp: FileStamp) -> Image? {
            do throws(SystemError) {
                let copy = try MemoryFile.sealing(copyOf: file.file.number, size: stamp.size, name: Self.name)
                // The copy itself is examined, because it is what runs.
                guard Self.content(of: FileStamp(descriptor: file.file.number)) == content,
                    let bytes = ImageBytes(sealed: copy.descriptor, path: path),
                    let variable = Self.libraryVariable(of: bytes, in: directory)
                else { return nil }
                let descriptor = copy.duplicate()
                return descriptor < 0 ? nil : Image(OwnedDescriptor(descriptor), variable: variable)
            } catch {
                return nil
            }
        }
    #endif

    /// Goes back to the file for good, because the system does not run programs from memory: vm.memfd_noexec=2, or a policy.
    ///
    /// - Returns: Whether the image was not the file already.
    func unseal(_ image: Image) -> Bool {
        guard image !== file else { return false }
        sealed.withLock { $0 = nil }
        Self.shared.withLock { shared in
            if shared?.image === image { shared = nil }
        }
        return true
    }

    #if os(Linux)
        /// The variable that leads the dynamic linker to the libraries which a program finds relative to its own directory, where a file
        /// in memory has none; empty if there are none, nil if the variable cannot name their folders.
        private static func libraryVariable(of bytes: ImageBytes, in directory: String) -> String? {
            guard let image = try? ELFImage(bytes), let dynamic = DynamicSection(image),
                let index = dynamic.runpath ?? dynamic.rpath, let list = image.string(dynamic, at: index)
            else { return "" }
            let names = image.neededLibraries(dynamic)
            let folders = SearchPath.folders(list, origin: directory).filter { folder in
                folder.isRelative && names.contains { FileStamp(path: "\(folder.path)/\($0)") != nil }
            }
            guard !folders.isEmpty else { return "" }
            // Nothing quotes these.
            let isNamed = folders.allSatisfy { folder in !folder.path.contains { ":;$".contains($0) } }
            guard isNamed else { return nil }
            return "LD_LIBRARY_PATH=" + folders.map(\.path).joined(separator: ":")
        }
    #endif

    // MARK: Finding

    /// Finds and opens the program: at the given path, by the environment, beside this program, in `libexec`, or in `PATH`.
    ///
    /// - Parameters:
    ///   - path: The path that the application names; nil if it names none.
    ///   - environment: Reads a variable.
    ///   - directory: The directory of this program.
    /// - Throws: `not-found`, with every place that was searched.
    package static func find(
        path: String?,
        environment: (String) -> String?,
        directory: String?
    ) throws(ConnectorError) -> RunnerProgram {
        if let path { return try existing(path, "the option \"runner\"") }
        if let path = environment(variable), !path.isEmpty { return try existing(path, "the variable \(variable)") }
        var places: [String] = []
        if let directory {
            places = [
                "\(directory)/\(name)", "\(directory)/../libexec/\(name)",
                "\(directory)/../libexec/connector-host/\(name)",
            ]
        }
        for folder in (environment("PATH") ?? "").split(separator: ":") where folder.hasPrefix("/") {
            places.append("\(folder)/\(name)")
        }
        if let found = places.first(where: isProgram) { return try RunnerProgram(path: found) }
        throw ConnectorError(
            .notFound,
            "there is no \(name), which connectors with \"isolation\": \"process\" run in",
            fix: "build it (swift build --product \(name)) and install it beside the program, or name it in "
                + "ConnectorHost.Options.runner or in the variable \(variable)",
            cause: "searched: \(places.joined(separator: ", "))"
        )
    }

    private static func existing(_ path: String, _ source: String) throws(ConnectorError) -> RunnerProgram {
        guard isProgram(path) else {
            throw ConnectorError(
                .notFound,
                "\(source) names \(path), which is not a program",
                fix: "name the file \(name)"
            )
        }
        return try RunnerProgram(path: path)
    }

    /// Why a program does not start, according to the system's error number.
    static func failure(_ path: String, _ number: Int32) -> ConnectorError {
        if number == ETIMEDOUT {
            return ConnectorError(
                .timedOut,
                "\(path) does not start",
                fix: "check that it is connector-runner, and that the machine is not overloaded",
                isRetryable: true
            )
        }
        let fix =
            switch number {
            case ENOSYS: "write \"isolation\": \"none\": runners need Linux 5.4 or later, or macOS"
            case EMFILE, ENFILE: "raise the limit of open files (ulimit -n, LimitNOFILE)"
            case EAGAIN, ENOMEM: "raise the limits of processes and memory (ulimit -u, TasksMax)"
            default: "check that it is connector-runner, and may be executed"
            }
        return ConnectorError(
            number == ENOSYS ? .unsupported : .unavailable,
            "\(path) cannot be started",
            fix: fix,
            cause: SystemError(number).description,
            isRetryable: number != ENOSYS
        )
    }

    /// Why there is nothing that a runner could read as its input, according to the system's error number.
    static func noInput(_ number: Int32) -> ConnectorError {
        ConnectorError(
            .unavailable,
            "no runner can be started: /dev/null cannot be opened",
            fix: "make /dev/null a device that everybody may read and write",
            cause: SystemError(number).description,
            isRetryable: true
        )
    }

    private static func isProgram(_ path: String) -> Bool {
        var state = stat()
        guard unsafe stat(path, &state) == 0, state.st_mode & S_IFMT == S_IFREG else { return false }
        return unsafe access(path, X_OK) == 0
    }
}
