"""Limits of the compiler: how much it unrolls, repeats, looks at and allocates, each with its unit and its reason.

A limit decides how long compilation takes, how large a program gets, or which of two equal programs is made, and never what
a program computes. Facts of formats and of NumPy (the largest array, exact integers) stand where they are used.
"""

from __future__ import annotations

# ---------------------------------------------------------------- loops that are written out
# Trips of loops, steps of inference and operations of the program.

UNROLLED_TRIPS = 4096
"""Trips: a loop of more is never written out."""
WRITTEN_OUT_TRIPS = 16
"""Trips: a loop of fewer is written out where that makes more of it known (an index, the kinds of a list's elements), and
where all trips take at most `WRITTEN_OUT_STEPS`."""
WRITTEN_OUT_STEPS = 20_000
"""Steps of inference of all trips of a loop that is written out although it could be rolled."""
WRITTEN_OUT_STEPS_IN_CALLS = 60_000
"""Steps of inference: a loop over a list goes over its places where so many trips like the first one would take more. The
first trip infers functions whose calls the others repeat."""
WRITTEN_OUT_OPERATIONS = 400
"""Operations of all trips of a loop that is written out although it could be rolled. XLA takes 1 to 3 ms for each, and
another iteration of a rolled loop 1 µs."""
REFUSED_TRIPS = 64
"""Trips: a loop of fewer is written out where something is refused of it as a rolled loop."""
GENERATORS_IN_GENERATORS = 100
"""Generators that may be suspended inside of each other."""
LOOPED_ARRAYS = 2
"""Arrays of one type in a list: a loop over no more is written out, however much its trips do."""
LOOPED_CHARACTERS = 4
"""Different characters: a loop over a string of more is written out, since a value has no more alternatives than these."""

# ---------------------------------------------------------------- fixpoints of loops
# Passes over a body, and repetitions of inference.

LOOP_PASSES = 12
"""Passes after which a loop that still changes its types is given up (PS301)."""
DEEPER_PASSES = 3
"""Passes in a row, each with more new objects than the one before, after which a loop is taken to build ever deeper
structures (PS305)."""
GROWING_PASSES = 3
"""Passes in a row, each of more steps than the one before, after which a loop is given up (PS404) ..."""
GROWING_PASSES_STEPS = 40_000
"""... where they took more steps together: further ones would take as many each."""
GENERALISED_ROUNDS = 2
"""How often an inner loop begins the passes of one around it again."""
RESIZED_ROUNDS = 4
"""How often arrays are made bounded before one loop."""
PEELED_OPERATIONS = 500
"""Operations of a first trip that is readily peeled: XLA takes about a second for them."""
CARRIED_NUMBERS = 16
"""Numbers that a loop carries for each trip beside a list of known length."""
CARRIED_BOOL_PAIRS = 256
"""Pairs of bools that a loop carries of which it is asked whether they are equal."""
CELL_PATH = 4
"""References that lead from a variable to a cell: by so many an earlier pass's cell is found again."""
RESTARTS = 32
"""How often the inference of one program begins again."""
LOOPS_BY_PLACE = 8
"""Loops for which inference begins again to go over the places of a list; further ones are written out."""
BLOCKERS = 32
"""Inputs and loops that keep a value from being known: so many are noted beside it, and all where it is asked."""

# ---------------------------------------------------------------- joins
# Alternatives of values where paths meet.

GATED_ALTERNATIVES = 8
"""Alternatives of a gated φ."""
GATED_STRINGS = 64
"""Strings among the alternatives of a gated φ, or of an element of a list of rows."""
ELEMENT_ALTERNATIVES = 4
"""Alternatives of an element of a list of rows."""
SPLIT_COMBINATIONS = 64
"""Combinations of alternatives for which one instruction is inferred."""
SIZES_OF_AN_ARRAY = 4
"""Sizes: an array that may have more where paths meet is bounded there."""
ITEM_BRANCHES = 15
"""Different items of a list without a common template, of which one at a computed place is taken by a branch."""
TESTED_STRINGS = 64
"""Strings of which one test at run time is made."""

# ---------------------------------------------------------------- calls
# The depth of recursion, and steps of inference.

RECURSION_DEPTH = 1000
"""How deep staged calls nest."""
UNDECIDED_RECURSION = 8
"""So often a function calls itself under conditions that only the run decides before arguments that decide them are
demanded; eight times as often it is taken to be endless."""
UNDECIDED_RECURSION_STEPS = 15_000
"""Steps of inference after which such a recursion is taken to be endless: less than a second."""
UNDECIDED_RECURSION_STEPS_AGAIN = 2_000
"""So many where the recursion of the function was taken to be endless before, in another pass over a loop around it."""
CONSTANT_TUPLE = 32
"""Numbers: a tuple of the environment with more is a constant until it is seen to change. An input for each would cost
more."""

# ---------------------------------------------------------------- effort
# What counts as a step of inference, and steps in seconds.

STEPS_PER_XLA_SECOND = 10_000
"""Steps of inference for each second that XLA may take."""
STEPS_AFTER_A_REFUSAL = 20_000
"""Steps of inference behind one instruction that was refused, to find further problems."""
STEPS_AFTER_A_DEMAND = 200
"""Steps of inference, besides half as many as were taken so far, in which further demands are found before it begins
again."""
STEPS_PER_CELL = 10
"""Steps that the join of a cell counts as, with the program for it."""
VALUES_PER_STEP = 16
"""Values that are walked through for one step where paths meet."""
TOKENS_PER_STEP = 24
"""Parts of a call's key that count as one step, with what the call then makes of them."""
ALIASES_PER_STEP = 16
"""Aliases of a merged cell that are looked at for one step."""
ALIAS_PAIRS_PER_STEP = 4
"""Pairs of cells of which it is found out for one step whether they are no-alias."""
SELECTED_MEMORIES = 8
"""Objects that a merged cell may be, among whose elements a load through it selects; of more it loads from a copy."""
MERGED_CELLS_PER_STEP = 64
"""Merged cells that are looked at for one step."""
OPERANDS_PER_STEP = 16
"""Operands of one operation that interval analysis looks at for one step."""
BLAMED_SHARE = 0.4
"""The share of a program that a loop must have brought about to be blamed for its size."""

# ---------------------------------------------------------------- capacities
# Elements or bytes that a program allocates before a run says how many it needs; a run that needs more compiles again.

FIRST_CAPACITY = 64
"""Elements of a list that gets longer in a loop of an unknown number of trips. XLA:CPU executes operations on arrays of at
most 512 bytes in sequence, others between threads, which costs more than small ones do (`ThunkExecutor::Options`)."""
FIRST_INNER_CAPACITY = 8
"""Elements of a list or tuple in a list that gets longer in a loop."""
FIRST_LISTS = 8
"""Growing lists that a loop of a known number of trips makes: each may get long, and all have memory for it."""
FIRST_LIST_BYTES = 1 << 8
"""Bytes that a growing list among others counts as, however long it is at first."""
COUNTED_ROWS = 1 << 22
"""Elements of a list whose capacity follows from the greatest number of trips of a loop."""
COUNTED_ROW_BYTES = 1 << 25
"""Bytes of such a list."""
FIRST_ARRAY_BYTES = 1 << 12
"""Bytes of an array that grows in a loop of an unknown number of trips."""
COUNTED_ARRAY_BYTES = 1 << 24
"""Bytes of an array whose capacity follows from the greatest number of trips of a loop."""
FIRST_BYTES_BY_INPUTS = 1 << 17
"""Bytes of a capacity that is guessed from the sizes of inputs. To compile again takes as long as to write so many 10⁵
times."""
SMALL_CAPACITY_BYTES = 1 << 15
"""Bytes that a capacity which did not suffice has at least in the next program."""
SEQUENTIAL_BYTES = 1 << 9
"""Bytes of a capacity that does not grow with another one: XLA:CPU executes operations on more between threads."""
RESERVED_BYTES = 1 << 20
"""Bytes to which the capacities of other functions grow with one that did not suffice. To write them takes 0.1 ms, and
another program seconds."""
LARGE_CAPACITY_BYTES = 1 << 24
"""Bytes up to which a capacity that did not suffice grows sixteenfold, or to what the sizes of inputs suggest; beyond, it
grows fourfold ..."""
FOURFOLD_CAPACITY_BYTES = 1 << 27
"""... up to so many, and doubles past them."""
BOUND_BY_RANGE = 1 << 24
"""Elements of a bounded extent whose bound is taken from the range of an integer."""
FIRST_EXTENT = 64
"""Elements of a bounded extent without such a bound."""
FIRST_WINDOW = 256
"""Elements of a window in a loop, of which nothing but a run knows how long it is."""
MOVED_ROWS = 512
"""Rows of a list that are moved at once, where an element in it is taken out or put in."""
EXPECTED_BINS = 1 << 12
"""Bins of `np.bincount`: as many are expected as there are numbers, but no more."""
DOUBLED_LIST_BYTES = 1 << 20
"""Bytes: a longer list gets an eighth more than its elements need, where a shorter one doubles."""
PADDED_ROW_ELEMENTS = 1 << 12
"""Elements: common bounds of arrays of several shapes in a list that have no more may be as empty as they are."""
PADDED_ROW_FACTOR = 8
"""Beyond that they have at most this many times the elements of the larger array."""

# ---------------------------------------------------------------- lists
# How the elements of lists are represented.

COLUMN_ROWS = 32
"""Elements: an argument that is a list or tuple of so many, all of one structure, enters as one array for each of their
numbers. XLA takes 20 ms to compile a parameter of its own."""
COLUMNS = 16
"""Numbers of an element of such a list; elements of more are parameters of their own."""
LISTED_EQUAL_ELEMENTS = 64
"""Equal elements (`[0] * n`): a list of more is made as rows; where only the run knows how many, it has this capacity."""
SET_HISTORY = 4096
"""Calls that make and change a set of known elements, repeated for each use of its order: after more it has none."""
REPEATED_ELEMENTS = 1 << 28
"""Equal elements of a list of rows."""
LISTED_ARRAY_ELEMENTS = 256
"""Elements of an array of which a list is made one by one; of a list among the arguments of a program that is inferred again
element by element because it is refused otherwise."""
SORTED_TUPLE_PLACES = 64
"""Places of the tuples by which a list is sorted."""
STORED_ONE_BY_ONE = 8
"""Elements that are put into a dict or a set one by one; more are in a loop."""
SORTING_NETWORK = 16
"""Numbers of a known list that are sorted by exchanging neighbours."""
CONSTANT_ROW_BYTES = 4096
"""Bytes of known rows that are a constant of the program; of more, the memory behind the rows may be left as it is."""
CONSTANT_ELEMENTS = 1024
"""Elements of an array known altogether that is a constant of the program."""
RECORD_TUPLES = 64
"""Tuples that make a structured array: each of their numbers is stored by itself."""

# ---------------------------------------------------------------- representatives
# NumPy is called with representatives of the operands to find out what it raises.

REPRESENTATIVE_ELEMENTS = 1 << 22
"""Elements of a representative; of a larger array there is none."""
REPRESENTATIVE_MEMORY = 1 << 12
"""Elements up to which a representative has memory for each; those of a larger one are one number."""
REPRESENTATIVE_INTEGER = 4096
"""The largest integer constant of such a call: it may be the extent of a result."""
REPRESENTATIVE_EXTENT = 9
"""The largest extent where only element types matter."""
REPRESENTATIVE_SMALL_INTEGER = 64
"""The largest integer constant where only element types matter."""
REPRESENTATIVE_MASK = 256
"""Elements of a mask of which every number of true ones is tried: it may be the size of a selection."""

# ---------------------------------------------------------------- analyses
# How far analyses look.

INTERVAL_DEPTH = 400
"""Operations that one query of a range follows."""
INTERVAL_NESTED = 3
"""Nested loops that are analysed twice, and chained selects that are analysed under their conditions."""
INTERVAL_NEAR = 24
"""Values that a value depends on which are searched for facts that refine its memoised interval."""
INTERVAL_BITS = 512
"""Bits of powers and shifts whose ranges are computed."""
INTERVAL_CONSTANT = 1 << 16
"""Elements of a constant whose range is computed."""
DIFFERENCE_DEPTH = 12
"""Operations in one another that a symbolic difference expands."""
DIFFERENCE_OPERATIONS = 256
"""Operations of one number that a symbolic difference expands."""
DIFFERENCE_TERMS = 8
"""Terms of a product that is multiplied out."""
DIFFERENCE_CHOICES = 6
"""Minima, maxima and choices that one difference looks through."""
INDUCTION_TRIPS = 1 << 50
"""Trips, and additions: more than any program makes."""
INDUCTION_DEPTH = 64
"""Operations between a value and its recurrence."""
LAYOUT_DEPTH = 200
"""Operations that are followed to find the order in memory of one array."""
LOADED_BOUND_DEPTH = 64
"""Numbers that are looked at to find out whether a bound comes from an element."""

# ---------------------------------------------------------------- passes
# Sizes at which a rewriting pays for itself on a CPU.

IF_CONVERSION_ELEMENTS = 16
"""Elements of an array that may be computed in vain."""
IF_CONVERSION_COST = 32
"""Scalar additions that both arms together may cost."""
IF_CONVERSION_STORE = 3
"""Scalar additions that a store costs beside the elements that it stores."""
DIFFERENTIATED_TRIPS = 4
"""Trips of a loop that is unrolled where it is differentiated."""
DIFFERENTIATED_OPERATIONS = 128
"""Operations of all its trips together: a mixture of experts, two trips of 20, takes 0.8 of the time of its loop."""
KERNEL_BYTES = 65_536
"""Bytes that an operation of an outlined kernel reads and writes: XLA divides larger ones among threads."""
KERNEL_TRIP_BYTES = 1_024
"""Bytes that a trip touches: a loop whose trips touch fewer is one that XLA makes a kernel itself."""
LIBRARY_REDUCTION = 4_096
"""Elements of a reduction that XLA:CPU gives to a library, which it cannot do in a kernel."""
OUTLINED_FUSIONS = 16
"""Operations that end a fusion: code with fewer stays whole."""
SEGMENT_FUSIONS = 8
"""Operations that end a fusion in one segment."""
SEGMENT_OPERATIONS = 512
"""Operations of a segment: LLVM's time for one function grows faster than its code."""
SEGMENT_ELEMENTS = 64
"""Elements: larger arrays are not kept between segments, since what uses them may compute them as a part of itself."""
CONCATENATED_IN_LOOPS = 8
"""Operands: a concatenation of fewer stays in a loop, where XLA fuses it into what reads it."""
SCRATCH_BYTES = 4096
"""Bytes from which on filling memory takes longer than carrying it through a loop."""
FOLDED_ELEMENTS = 4096
"""Elements: an operation that takes or gives more is not folded; what reads its result hides it from XLA."""
SEEN_THROUGH_VALUES = 100
"""Values that are looked at to find out what XLA may see an operand to be made by."""
INLINED_OPERATIONS = 64
"""Operations: calls of functions of no more are inlined before they are emitted, where XLA would inline them."""
SINGLE_TRIP_ELEMENTS = 64
"""Elements of a result that may be given a value before it has one."""
FORWARDED_ELEMENTS = 16
"""Elements up to which a part is no slab, however small the array is."""
FORWARDED_STORES = 64
"""Disjoint stores across which a load is moved."""
RECOMPUTED_OPERATIONS = 100.0
"""Operations that are computed once more where they are used."""
LOAD_FACTOR = 4
"""A static slice counts as a load if the array is so many times larger, else as a use of the whole array."""

# ---------------------------------------------------------------- derivatives
# States that checkpointing saves.

SAVED_STATES = 16
"""States that the primal pass of a loop without a trip count saves."""
RECOMPUTED_STATES = 24
"""More states that the pullback may save: the logarithm of the longest stride."""

# ---------------------------------------------------------------- front end

NESTED_CONDITIONALS = 32
"""Nested conditionals; beyond, flags guard the rest. XLA fails at a few hundred."""

# ---------------------------------------------------------------- lazy tensors in buckets

PROGRAMS_IN_BUCKETS = 512
"""Programs for recorded calls on arrays in buckets: the least recently used are evicted first."""
ENDS_OF_A_SIZE = 2
"""Elements: an extent that is so many less than a size in a bucket is written as that, as `n - 1`, so that other sizes share
the program."""
