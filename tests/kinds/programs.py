"""Expressions and statements over arrays that do not call a function of NumPy: operators, methods, indexing, built-ins.

The names are those of `calls.ARRAYS`. Out: `PROGRAMS`, bodies of functions.
"""

from __future__ import annotations


def words(text: str) -> list[str]:
    """The words of a text, one expression each."""
    return text.split()


BINARY = words("""
+ - * / // % ** == != < <= > >= @
""")
BITS = words("""
& | ^ << >>
""")
METHODS = words("""
all() any() argmax() argmin() argsort() astype(np.int32) clip(0.0,1.0) conj() conjugate() copy() cumprod()
cumsum() flatten() item(1) max() mean() min() prod() ptp() ravel() repeat(2) reshape(2,2) reshape((2,2))
reshape(-1) round() round(1) searchsorted(0.5) sort() squeeze() std() std(ddof=1) sum() sum(axis=0)
sum(keepdims=True) take(1,mode='clip') tolist() transpose() var() view() dot(y) nonzero()[0]
sum(dtype=np.float32) mean(dtype=np.float16) sum(initial=1.0) max(initial=5.0) tobytes() fill(2.0) put(0,1.0)
partition([0,1,2]) argpartition(1)[1] choose([x,x]) compress([True,False,True,True]) byteswap() sum(where=c) __len__()
__array__() is_deleted() devices() block_until_ready()
""")
MATRIX_METHODS = words("""
T mT diagonal() trace() swapaxes(0,1) transpose(1,0) transpose((1,0)) sum(0) mean(axis=1) max(axis=(0,1))
argmax(1) sum(axis=-1,keepdims=True) cumsum(0) cumsum() reshape(-1) ravel() flatten() sort(axis=0) argsort(0)
any(1) all(axis=0) std(0) var(1) prod(1) min(0) take(i,axis=0,mode='clip') tolist() item(1,2) ravel(order='F')
flatten(order='F') reshape(9,order='F') dot(a) round(1) repeat(2,0) repeat(2,axis=1) ptp(0) squeeze() copy()
real imag conj() shape ndim size dtype itemsize nbytes strides flags base device at weak_type sharding nbytes
flat
""")
BUILTINS = words("""
len(x) list(x) tuple(x) sum(x) max(x) min(x) sorted(x) any(x) all(x) abs(x) reversed(x) iter(x) bool(n) float(n)
int(n) complex(n) round(n) round(n,1) str(n) repr(n) hash(n) divmod(x,y) divmod(n,2) pow(x,2)
isinstance(x,np.ndarray) isinstance(x,jax.Array) isinstance(n,float) isinstance(n,np.generic) type(x)
type(x).__name__ (0.5)in(x) (9.0)in(x) float(x[0]) int(x[2]) bool(x[0]>0) range(i[0]) [0,1,2][i[1]] enumerate(x)
zip(x,y) dict(zip(range(4),x)) [*x] (*x,) {**{'k':x}} set([1]) list(map(abs,x)) list(filter(None,x))
max(x,key=abs) sum(x,n) max(n,1.0) min(n,x[0]) f'{n}' '%s'%n f'{n:.2f}' format(n,'.1f') callable(x)
hasattr(x,'at') hasattr(x,'flat') getattr(x,'shape') math.sqrt(n) math.floor(n) operator.index(i[0]) x.__class__
np.float64(n)*x np.float32(2)*x x*np.float32(2) 2*x x*2.0 True*x x+1j c*1 c+c ~c -c +x -x abs(a) not(n)
(n)and(x) n>0 x[0]if(x[0]>0)else(y[0]) x.sum()+y.sum() x[0]+y[0] x[0]*2 n*x n+n n*2 n**2 2**n n//2 -n n==n n<x
""")
INDEXING = words("""
x[0] x[-1] x[1:3] x[::-1] x[i] x[k] x[c] x[x>0] x[[0,2]] x[None] x[...] x[()] x[i[0]] x[i[0]:] a[0] a[0,1]
a[:,1] a[i] a[i,j] a[i,0] a[:,i] a[i[:,None],j] a[...,0] a[a>0] a[a>0].sum() a[c[:3]] n[()] n[...]
x[np.array([0,1])] x[jnp.array([0,1])] x[10] x[(0,)] x[slice(1,3)] x[True] a[0][1] [[1,2],[3,4]][i[1]]
x[i].sum() q[0,i] t[0,:,1] x[np.int64(1)] x[np.argmax(x)] x[jnp.argmax(x)] x[x.argmax()] x[0:10:3] a[1,::-1]
a[-1:]
""")
STORES = """
x[0] = 1.0
return x

x[i] = r
return x

x[1:3] = 0
return x

x[c] = 0
return x

x += 1
return x

x *= y
return x

b = x
b += 1
return x, b

b = x[1:]
b += 1
return x, b

x[0] += 1.0
return x

del x[0]
return x

a[0] = r
return a

a[:, 1] = x[:3]
return a

z = np.zeros(4)
z[1:3] = x[:2]
return z

z = np.zeros(4)
z[i] = r
return z

z = np.zeros(4)
z += x
return z

z = np.zeros(4)
z[0] = n
return z

z = np.zeros(4, int)
z[i] = i
return z

z = np.zeros(4)
z[c] = 1
return z

z = np.zeros(4)
z[x > 0] = x[0]
return z

z = [0.0] * 4
z[i[0]] = x[0]
return z

b, d, e, g = x
return g, b

b, *d = x
return d

s = 0
for each in x:
    s = s + each
return s

s = 0.0
for each in x:
    s += each
return s

s = []
for each in a:
    s.append(each)
return s

s = 0.0
for row in a:
    for v in row:
        s = s + v
return s

return [v * 2 for v in x]

return [row.sum() for row in a]

return {k: v for k, v in enumerate(x)}

return sum(v for v in x)

s = 0.0
for k, v in enumerate(x):
    s = s + k * v
return s

s = 0.0
for u, v in zip(x, y):
    s = s + u * v
return s

s = n
for k in range(5):
    s = s * 0.5 + x[0]
return s

while n < 100:
    n = n * 2
return n

while n < 100:
    n *= 2
return n

return x.at[0].set(1.0)

return x.at[i].add(r)

return x.at[c].set(0.0)

return x.at[1:3].multiply(2)

return a.at[0, 1].set(5.0)

return a.at[i, j].add(1.0)

return x.at[10].get()

if n > 1:
    return x
return y

if x[0] > 0:
    n = x[1]
return n

if x[0] > 0:
    n = 0
return n

if x[0] > 0:
    x = y
return x + 1

return x if n > 100 else y

m = x[0]
for v in x:
    if v > m:
        m = v
return m

m = 0.0
for v in x:
    m = max(m, v)
return m

w = a
for k in range(3):
    w = w - 0.1 * a @ w
return w

h = np.zeros(3)
for k in range(3):
    h = np.tanh(a @ h + r)
return h

h = jnp.zeros(3)
for k in range(3):
    h = jnp.tanh(a @ h + r)
return h

out = np.zeros(4)
for k in range(4):
    out[k] = x[k] * 2
return out

out = []
for k in range(4):
    out.append(x[k] * 2)
return np.array(out)

out = []
for k in range(4):
    out.append(x[k] * 2)
return jnp.array(out)

return np.array([x[0], y[0]])

return jnp.array([x[0], y[0]])

return jnp.stack([x, y])

return jnp.where(c, x, y)

return jnp.dot(a, r)

return jnp.sum(x) + np.sum(x)

return jnp.asarray(x) + np.asarray(x)

return np.asarray(x) * x

return float(x.sum())

return x.sum().item()

try:
    x[0] = 1.0
except TypeError:
    return 'no'
return 'yes'

d = {'x': x}
d['x'] = d['x'] + 1
return d

return int(i[0]) + 1

k = int(i[0])
return x[k]

return x[int(i[0])]

return np.zeros(3)[i[0]]

return a @ r @ r

return (x > 0) & (y > 0)

return x == y

return (x == y).all()

return x is y

return x is x

return x in [1]

return None in [x]

assert x[0] > 100, 'small'
return x

if (x > 100).any():
    raise ValueError('big')
return x

raise ValueError(x[0])

raise ValueError(f'{x.shape}')

print(n)
return n

print(x.shape, x.dtype)
return n

match n:
    case 2.5:
        return 'yes'
return 'no'

return np.linalg.norm(x - y) < 1

return x.mean() > 0 and y.mean() > 0

s = x[0]
s += 1
return s, x

b = n
b += 1
return n, b

b = n
n += x[0]
return n, b

return -x[0], +x[0], abs(x[0])

return x.T @ y, x @ y, a @ p
"""
"""Bodies, with a line without anything between two of them."""

INTEGERS = words("""
sum() mean() prod() max() std() cumsum() astype(np.float32) argsort() any() view() item(0) tolist()
""")
COMPLEX = words("""
real imag conj() sum() mean() std() T astype(np.complex64) prod()
""")
WITHOUT_AXES = words("""
item() tolist() sum() mean() max() shape ndim T reshape(1) astype(np.int32) round() copy() squeeze()
is_integer() real imag flatten() __float__() as_integer_ratio()
""")

_NUMBERS = BINARY[:-1]
"""Operators that take a number too."""

PROGRAMS: list[str] = [
    *[f"return x {o} y" for o in BINARY],
    *[f"return i {o} x[:3]" for o in BINARY],
    *[f"return {left} {o} x" for left in ("2.0", "n", "np.float32(2)") for o in _NUMBERS],
    *[f"return x {o} {right}" for right in ("2", "np.float64(2)") for o in _NUMBERS],
    *[f"return i {o} j" for o in (*BINARY, *BITS)],
    *[f"return i {o} {right}" for right in ("3", "np.int8(3)") for o in (*_NUMBERS, *BITS)],
    *[f"return c {o} c" for o in ("&", "|", "^", "+", "*", "==", "<")],
    *[f"x {o}= y\nreturn x" for o in ("+", "-", "*", "/", "//", "%", "**")],
    *[f"return i.{member}" for member in INTEGERS],
    *[f"return z.{member}" for member in COMPLEX],
    *[f"return n.{member}" for member in WITHOUT_AXES],
    *[f"return x.{member}" for member in METHODS],
    *[f"return a.{member}" for member in MATRIX_METHODS],
    *[f"return {expression}" for expression in (*BUILTINS, *INDEXING)],
    *[body.strip("\n") for body in STORES.split("\n\n")],
]
