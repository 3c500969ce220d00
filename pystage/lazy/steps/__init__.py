"""`lazy.step`: a function of lazy tensors is recorded once, and its program replayed.

`recording` is what a thread records, `number` a Python number in it, `call` the arguments of one call, `captured` what the
function has besides, `program` what came of a recording, and `step` the public entry.
"""
