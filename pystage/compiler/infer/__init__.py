"""Inference: an abstract interpreter over stage IR that builds HLO IR as it goes.

entry.py       from a function and the specs of its arguments to a program
interface.py   what bridges to libraries use of inference
exits.py       what a program gives back: the template of its result, mutations, failure
core/          the engine, speculation, joins, branches, fixpoints of loops, splitting
calls/         binding of arguments, function summaries and their keys, invocation
objects/       attributes and classes, dataclasses, named tuples, the caller's environment
aliases/       merged cells: may-alias sets, version stamps, stores to all aliases
exceptions/    raise sites, the error cell, handlers
iteration/     iterators, lists that grow in loops
transforms/    grad, vjp, jvp, jacobian, vmap, custom rules; JAX's transforms of staged functions
diagnostics/       diagnostics in the user's words: places, causes, the trail of each line
"""
