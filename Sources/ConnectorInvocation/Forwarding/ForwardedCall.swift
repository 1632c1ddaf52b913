// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A call of a C function that answers at once, on its way to an instance elsewhere; valid until the function returns.
package struct ForwardedCall {
    /// The operation's position among all operations of the manifest, in its order.
    package let position: Int
    /// The name to call the operation by.
    package let name: String
    /// Where the arguments are.
    package let layout: CallLayout
    /// The arguments, and where the answers go.
    package let arguments: FunctionClosure.Arguments
}
