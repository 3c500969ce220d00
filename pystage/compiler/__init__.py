"""The compiler: from the source of a Python function to a StableHLO module.

Packages, in the order in which a program passes through them: `frontend` (source to stage IR),
`infer` (stage IR and abstract arguments to HLO IR), `emit` (HLO IR to StableHLO). What they share lies
below: `stage` and `hlo` (the two program representations), `ops` (the operations), `values` (what
inference knows of a value), `library` (what known Python functions mean), `diagnostics`.
"""
