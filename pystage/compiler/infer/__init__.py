"""Inference: an abstract interpreter over stage IR that builds HLO IR as it goes.

entry.py       from a function and the specs of its arguments to a program
interface.py   what bridges to libraries use of inference
exits.py       what a program gives back: the template of its result, mutations, failure
core/          the engine, joins at branches, fixpoints of loops, values that depend on the path
calls/         arguments to parameters, functions inferred once for each kind of arguments, what is known of callables
objects/       attributes and classes, dataclasses, named tuples, the caller's world
aliases/       objects of which the path decides which they are
exceptions/    what raises and is caught at run time
iteration/     iterators, lists that grow in loops
transforms/    grad, vjp, jvp, jacobian, vmap, rules of the user's own; JAX's transforms of staged functions
telling/       diagnostics in the user's words: places, causes, what was seen of each line
"""
