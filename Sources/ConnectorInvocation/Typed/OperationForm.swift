// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

/// The form of signature that a predefined C type of ``OperationFunction`` requires.
package enum OperationForm {
    /// Synchronous; several scalars of one type in, one of the same type out.
    case scalars(ValueType, count: Int)
    /// Asynchronous; several texts in, at most one text out.
    case texts(count: Int)

    /// The form of a predefined C type; nil for any other type, which the host cannot check.
    package init?(_ function: Any.Type) {
        switch function {
        case _ where function == OperationFunction.Numbers1.self: self = .scalars(.f64, count: 1)
        case _ where function == OperationFunction.Numbers2.self: self = .scalars(.f64, count: 2)
        case _ where function == OperationFunction.Numbers3.self: self = .scalars(.f64, count: 3)
        case _ where function == OperationFunction.Integers1.self: self = .scalars(.i64, count: 1)
        case _ where function == OperationFunction.Integers2.self: self = .scalars(.i64, count: 2)
        case _ where function == OperationFunction.Integers3.self: self = .scalars(.i64, count: 3)
        case _ where function == OperationFunction.Texts1.self: self = .texts(count: 1)
        case _ where function == OperationFunction.Texts2.self: self = .texts(count: 2)
        case _ where function == OperationFunction.Texts3.self: self = .texts(count: 3)
        default: return nil
        }
    }

    /// Whether functions with the signature have the form's C type.
    package func fits(_ signature: Signature) -> Bool {
        switch self {
        case .scalars(let type, let count):
            !signature.isAsync && signature.parameters.count == count && signature.results.map(\.type) == [type]
                && signature.parameters.allSatisfy { $0.type == type && $0.direction == .in && !$0.isOptional }
        case .texts(let count):
            signature.parameters.count == count && TextOperation.fits(signature)
        }
    }
}

extension OperationForm: CustomStringConvertible {
    /// The form in words, for messages.
    package var description: String {
        switch self {
        case .scalars(let type, let count): "\(count) \(type) in and one out, synchronous"
        case .texts(let count): "\(count) texts in, asynchronous"
        }
    }
}
