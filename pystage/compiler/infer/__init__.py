"""Inference: an abstract interpreter over stage IR that builds HLO IR as it goes.

entry.py       from a function and the specs of its arguments to a program
interface.py   what bridges to libraries use of inference
interpreter.py the engine with all that follows, and blocks; instructions.py each kind of instruction

The folders, from below to above; imports between them point down:

state/         the parts of the state of one inference, speculation, placeholders of φ
diagnostics/   diagnostics in the user's words: places, causes, the trail of each line
core/          the engine, and the caller's environment
results/       what a program gives back: the template of its result, mutations, failure
exceptions/    raise sites and the error cell
objects/       attributes and classes, dataclasses, named tuples, exceptions as objects
iteration/     iterators, lists that grow in loops
aliases/       merged cells: may-alias sets, version stamps, stores to all aliases
control/       joins, branches, handlers, fixpoints of loops
calls/         function summaries and their keys, invocation
transforms/    grad, vjp, jvp, jacobian, vmap, custom rules; JAX's transforms of staged functions
"""
