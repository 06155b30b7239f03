"""The proof of the assignment `variance-growth`."""

from __future__ import annotations

from attn_lib.course.personal.variance_growth import entries
from attn_lib.course.targets import score_mean, score_range, score_sd, score_variance
from attn_lib.estimates import score_matrix_noise, variance_noise
from tests.exercises.proof.proof import Proof, Slip
from tests.exercises.slips import slips_of

RIGHT = {
    "loops": {
        "measured": """
def measured_variance(q, k):
    scores = []
    for query, key in zip(q, k):
        score = 0.0
        for a, b in zip(query, key):
            score += a * b
        scores.append(score)
    mean = sum(scores) / len(scores)
    return sum((score - mean) ** 2 for score in scores) / len(scores)
""",
        "experiment": """
def estimated_variance(d_k, divisor, n, seed):
    rng = np.random.default_rng(seed)
    scores = []
    for _ in range(n):
        q, k = rng.standard_normal(d_k), rng.standard_normal(d_k)
        scores.append(np.dot(q, k) / divisor)
    return np.var(scores)
""",
        "scale": """
def head_scale(d_model, n_heads, n_k):
    d_k = 0
    while (d_k + 1) * n_heads <= d_model:
        d_k += 1
    return d_k**-0.5

left = round(1 / n_heads, 3)
""",
        "draw": """
def draw_variances(widths):
    figure = plt.figure(figsize=(4, 3))
    ax = figure.add_subplot()
    for label, power in {"raw": 0, "by sqrt(d_k)": 0.5, "by d_k": 1}.items():
        ax.plot(widths, [d / (d**power) ** 2 for d in widths], "o--", label=label)
    ax.set(xscale="log", yscale="log", xlabel="Width d", ylabel="Variance")
    return ax
""",
    },
    "einsum": {
        "measured": "def measured_variance(q, k):\n    return np.einsum('ij,ij->i', q, k).var()",
        "experiment": """
def estimated_variance(d_k, divisor, n, seed):
    rng = np.random.default_rng(seed)
    q, k = rng.normal(0, divisor**-0.5, (2, n, d_k))
    return np.einsum("ij,ij->i", q, k).var()
""",
        "scale": "head_scale = lambda w, h, n: (h / w) ** 0.5\n\nleft = n_heads**-1.0",
        "draw": """
def draw_variances(widths):
    ax = plt.subplots()[1]
    ax.loglog(widths, widths, widths, np.ones_like(widths), widths, 1 / widths)
    for line, label in zip(ax.lines, ["raw", "by sqrt(d_k)", "by d_k"]):
        line.set_label(label)
    ax.set_xlabel("width d_k")
    ax.set_ylabel("variance")
    return ax
""",
    },
    "float32": {
        "measured": """
def measured_variance(q, k):
    q, k = q.astype(np.float32), k.astype(np.float32)
    scores = (q[:, None, :] @ k[:, :, None]).ravel()
    return np.square(scores - scores.mean()).mean()
""",
        "experiment": """
def estimated_variance(d_k, divisor, n, seed):
    rng = np.random.default_rng(seed)
    q, k = rng.standard_normal((2, n, d_k), dtype=np.float32)
    return measured_variance(q, k) / divisor**2
""",
        "scale": """
def head_scale(d_model, n_heads, n_k):
    return np.float32(1) / np.sqrt(np.float32(d_model // n_heads))

left = np.float32(faulty_scale(d_model, n_heads, n_k)) ** 2 * (d_model // n_heads)
""",
        "draw": """
def draw_variances(widths):
    d = np.asarray(widths, dtype=np.float32)
    plt.figure()
    plt.loglog(d, d, label="raw")
    plt.loglog(d, d**0, label="by sqrt(d_k)")
    plt.loglog(d, d**-1, label="by d_k")
    plt.xlabel("width $d_k$")
    plt.ylabel("variance $\\\\sigma^2$")
    return plt.gca()
""",
        "predict": """
variance, sd, bound, mean = np.float32([
    d_k * var_q * var_k, np.sqrt(d_k * var_q * var_k), np.sqrt(4 * d_k), d_k * mean_q * mean_k
])
""",
    },
    "keyword arguments": {
        "measured": "def measured_variance(q, k, *, axis=1):\n    return np.var((q * k).sum(axis=axis))",
        "experiment": """
def estimated_variance(d_k=64, divisor=8, n=1000, seed=None):
    rng = np.random.default_rng(seed=seed)
    pairs = rng.normal(size=(n, 2, d_k))
    return measured_variance(q=pairs[:, 0], k=pairs[:, 1] / divisor)
""",
        "scale": """
def head_scale(d_model, n_heads=1, n_k=None):
    return 1 / np.sqrt(d_model // n_heads)

left = 1 / n_heads
""",
    },
    "a figure": {
        "measured": """
def measured_variance(q, k):
    scores = np.diagonal(q @ k.T)
    return (scores**2).mean() - scores.mean() ** 2
""",
        "draw": """
def draw_variances(widths):
    fig, ax = plt.subplots()
    for label, variances in zip(
        ("by d_k", "by sqrt(d_k)", "raw"), (1 / widths, widths / widths, widths)
    ):
        ax.plot(widths[::-1], variances[::-1], label=label)
    ax.axhline(1, color="grey", zorder=0)
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    ax.set_xlabel("the width")
    ax.set_ylabel("the variance")
    return fig
""",
    },
    "typed in": {
        "predict": """
variance = 101 * 0.5 * 0.25
sd = 3.55
bound = 20.10
mean = -25.25
""",
        "chance": """
noise = 0.0181
errors_away = 6.9
verdict = " b"
matrix_noise = 0.0882
""",
    },
}

SLIPS = {
    "mean of the squares": Slip(
        "measured",
        "def measured_variance(q, k):\n    return np.mean((q * k).sum(axis=-1) ** 2)",
        cost={"measured-tests": 1, "experiment-tests": 2},
        told="variance of scores of mean 0: ok variance of any scores: not yet",
    ),
    "divided by n - 1": Slip(
        "measured",
        "def measured_variance(q, k):\n    return np.var((q * k).sum(axis=-1), ddof=1)",
        cost={"measured-tests": 2},
        told="(variance-over-one-less; see the book",
    ),
    "summed over everything": Slip(
        "measured",
        "def measured_variance(q, k):\n    return np.var(np.sum(q * k))",
        cost={"measured-tests": 2, "experiment-tests": 2},
        told="got 0.",
    ),
    "one variance for each pair": Slip(
        "measured",
        "def measured_variance(q, k):\n    return np.var(q * k, axis=-1)",
        cost={"measured-tests": 2, "experiment-tests": 2},
        told="expected shape () (a single number), got (4,).",
    ),
    "the scores themselves": Slip(
        "measured",
        "def measured_variance(q, k):\n    return (q * k).sum(axis=-1)",
        cost={"measured-tests": 2, "experiment-tests": 2},
        told="expected shape () (a single number), got (4,).",
    ),
    "variance of query and key": Slip(
        "measured",
        "def measured_variance(q, k):\n    return q.shape[-1] * np.var(q) * np.var(k)",
        cost={"measured-tests": 2, "experiment-tests": 2},
        told="expected",
    ),
    "variance of the query only": Slip(
        "predict",
        "variance = d_k * var_q",
        adds=True,
        cost={"predict-tests": 1},
        told="variance: expected 12.625, got 50.5.",
    ),
    "sd of the other bound": Slip(
        "predict", "bound = 2 * sd", adds=True, cost={"predict-tests": 1}, told="bound: expected"
    ),
    "three sds": Slip(
        "predict",
        "bound = 3 * d_k**0.5",
        adds=True,
        cost={"predict-tests": 1},
        told="bound: expected",
    ),
    "both ends": Slip(
        "predict",
        "bound = [-bound, bound]",
        adds=True,
        cost={"predict-tests": 1},
        told="bound: expected shape () (a single number), got (2,).",
    ),
    "rounded to a whole number": Slip(
        "predict", "sd = round(sd)", adds=True, cost={"predict-tests": 1}, told="sd: expected"
    ),
    "mean with the root of the means": Slip(
        "predict",
        "mean = d_k * (mean_q * mean_k) ** 0.5",
        adds=True,
        cost={"predict-tests": 1},
        told="mean: expected",
    ),
    "sign of the mean lost": Slip(
        "predict", "mean = -mean", adds=True, cost={"predict-tests": 1}, told="mean: expected"
    ),
    "the same generator twice": Slip(
        "experiment",
        """
def estimated_variance(d_k, divisor, n, seed):
    q = np.random.default_rng(seed).normal(size=(n, d_k))
    k = np.random.default_rng(seed).normal(size=(n, d_k))
    return measured_variance(q / divisor, k)
""",
        cost={"experiment-tests": 2},
        told="(keys-equal-to-queries; see the book",
    ),
    "query and key divided": Slip(
        "experiment",
        """
def estimated_variance(d_k, divisor, n, seed):
    rng = np.random.default_rng(seed)
    q, k = rng.normal(size=(2, n, d_k)) / divisor
    return measured_variance(q, k)
""",
        cost={"experiment-tests": 2},
        told="expected 4, got 0.2",
    ),
    "variance divided once": Slip(
        "experiment",
        """
def estimated_variance(d_k, divisor, n, seed):
    rng = np.random.default_rng(seed)
    q, k = rng.normal(size=(2, n, d_k))
    return measured_variance(q, k) / divisor
""",
        cost={"experiment-tests": 2},
        told="variance-divided-once",
    ),
    "the divisor not used": Slip(
        "experiment",
        """
def estimated_variance(d_k, divisor, n, seed):
    rng = np.random.default_rng(seed)
    q, k = rng.normal(size=(2, n, d_k))
    return measured_variance(q, k)
""",
        cost={"experiment-tests": 2},
        told="expected 4, got 6",
    ),
    "the root in place of the divisor": Slip(
        "experiment",
        """
def estimated_variance(d_k, divisor, n, seed):
    rng = np.random.default_rng(seed)
    q, k = rng.normal(size=(2, n, d_k))
    return measured_variance(q / np.sqrt(d_k), k)
""",
        cost={"experiment-tests": 2},
        told="variance-always-one",
    ),
    "multiplied": Slip(
        "experiment",
        """
def estimated_variance(d_k, divisor, n, seed):
    rng = np.random.default_rng(seed)
    q, k = rng.normal(size=(2, n, d_k))
    return measured_variance(q * divisor, k)
""",
        cost={"experiment-tests": 2},
        told="expected 4, got",
    ),
    "seed not used": Slip(
        "experiment",
        """
def estimated_variance(d_k, divisor, n, seed):
    q, k = np.random.normal(size=(2, n, d_k))
    return measured_variance(q / divisor, k)
""",
        cost={"experiment-tests": 2},
        told="for the same seed. Draw from np.random.default_rng(seed) only.",
    ),
    "a seed of its own": Slip(
        "experiment",
        """
def estimated_variance(d_k, divisor, n, seed):
    q, k = np.random.default_rng(0).normal(size=(2, n, d_k))
    return measured_variance(q / divisor, k)
""",
        cost={"experiment-tests": 2},
        told="for two different seeds.",
    ),
    "theory in place of an experiment": Slip(
        "experiment",
        "def estimated_variance(d_k, divisor, n, seed):\n    return d_k / divisor**2",
        cost={"experiment-tests": 2},
        told="for two different seeds.",
    ),
    "the estimate rounded": Slip(
        "experiment",
        """
def estimated_variance(d_k, divisor, n, seed):
    rng = np.random.default_rng(seed)
    q, k = rng.normal(size=(2, n, d_k))
    return round(measured_variance(q / divisor, k))
""",
        cost={"experiment-tests": 2},
        told="for two different seeds. Draw random numbers from np.random.default_rng(seed), "
        "measure them, and do not round.",
    ),
    "one query for all keys": Slip(
        "experiment",
        """
def estimated_variance(d_k, divisor, n, seed):
    rng = np.random.default_rng(seed)
    return measured_variance(rng.normal(size=d_k) / divisor, rng.normal(size=(n, d_k)))
""",
        cost={"experiment-tests": 2},
        told="estimated_variance for 64, 4, 4000, 1: expected 4, got",
    ),
    "entries between 0 and 1": Slip(
        "experiment",
        """
def estimated_variance(d_k, divisor, n, seed):
    rng = np.random.default_rng(seed)
    q, k = rng.random((2, n, d_k))
    return measured_variance(q / divisor, k)
""",
        cost={"experiment-tests": 2},
        told="expected 4, got 0.1",
    ),
    "n and d_k swapped": Slip(
        "experiment",
        """
def estimated_variance(d_k, divisor, n, seed):
    rng = np.random.default_rng(seed)
    q, k = rng.normal(size=(2, d_k, n))
    return measured_variance(q / divisor, k)
""",
        cost={"experiment-tests": 2},
        told="expected 4, got",
    ),
    "fewer pairs than asked for": Slip(
        "experiment",
        """
def estimated_variance(d_k, divisor, n, seed):
    rng = np.random.default_rng(seed)
    q, k = rng.normal(size=(2, 10, d_k))
    return measured_variance(q / divisor, k)
""",
        cost={"experiment-tests": 2},
        told="expected 4, got",
    ),
    "the divisor": Slip(
        "scale",
        "def head_scale(d_model, n_heads, n_k):\n    return np.sqrt(d_model / n_heads)\n\nleft = 1 / n_heads",
        cost={"scale-tests": 2},
        told="expected 0.125, got 8.",
    ),
    "root of one of the two": Slip(
        "scale",
        "def head_scale(d_model, n_heads, n_k):\n    return 1 / (np.sqrt(d_model) / n_heads)\n\nleft = 1 / n_heads",
        cost={"scale-tests": 2},
        told="head_scale for 512, 8, 100: expected 0.125",
    ),
    "divided the wrong way round": Slip(
        "scale",
        "def head_scale(d_model, n_heads, n_k):\n    return 1 / np.sqrt(n_heads // d_model)\n\nleft = 1 / n_heads",
        cost={"scale-tests": 2},
        told="expected finite numbers, got inf",
    ),
    "the number of the example": Slip(
        "scale",
        "def head_scale(d_model, n_heads, n_k):\n    return 1 / np.sqrt(64)\n\nleft = 1 / n_heads",
        cost={"scale-tests": 2},
        told="expected 0.353553, got 0.125.",
    ),
    "the mended factor for left": Slip(
        "scale",
        "left = d_model / n_heads * head_scale(d_model, n_heads, n_k)",
        adds=True,
        cost={"scale-tests": 1},
        told="left: expected 0.142857, got",
    ),
    "the factor for left": Slip(
        "scale",
        "left = faulty_scale(d_model, n_heads, n_k)",
        adds=True,
        cost={"scale-tests": 1},
        told="left: expected 0.142857, got",
    ),
    "the heads for left": Slip(
        "scale",
        "left = n_heads",
        adds=True,
        cost={"scale-tests": 1},
        told="left: expected 0.142857, got 7.",
    ),
    "no return of the axes": Slip(
        "draw",
        "def draw_variances(widths):\n    fig, ax = plt.subplots()\n    ax.plot(widths, widths, label='raw')",
        cost={"draw-tests": 4},
        told="expected the Axes that it drew into, got NoneType. Is there a `return ax`?",
    ),
    "lines without labels": Slip(
        "draw",
        """
def draw_variances(widths):
    fig, ax = plt.subplots()
    ax.loglog(widths, widths, widths, widths**0, widths, 1 / widths)
    ax.set(xlabel="width", ylabel="variance")
    return ax
""",
        cost={"draw-tests": 3},
        told="expected a line labelled 'raw', found no line with a label.",
    ),
    "empty axes": Slip(
        "draw",
        """
def draw_variances(widths):
    fig, ax = plt.subplots()
    ax.set(xlabel="width", ylabel="variance", xscale="log", yscale="log")
    return ax
""",
        cost={"draw-tests": 4},
        told="expected lines or an image in its axes, found neither.",
    ),
    "linear axes": Slip(
        "draw",
        """
def draw_variances(widths):
    fig, ax = plt.subplots()
    ax.plot(widths, widths, label="raw")
    ax.plot(widths, widths**0, label="by sqrt(d_k)")
    ax.plot(widths, 1 / widths, label="by d_k")
    ax.set(xlabel="width", ylabel="variance")
    return ax
""",
        cost={"draw-tests": 1},
        told="expected a log x axis, got linear",
    ),
    "one logarithmic axis": Slip(
        "draw",
        """
def draw_variances(widths):
    fig, ax = plt.subplots()
    ax.semilogx(widths, widths, label="raw")
    ax.semilogx(widths, widths**0, label="by sqrt(d_k)")
    ax.semilogx(widths, 1 / widths, label="by d_k")
    ax.set(xlabel="width", ylabel="variance")
    return ax
""",
        cost={"draw-tests": 1},
        told="expected a log y axis, got linear",
    ),
    "axes without labels": Slip(
        "draw",
        """
def draw_variances(widths):
    fig, ax = plt.subplots()
    ax.loglog(widths, widths, label="raw")
    ax.loglog(widths, widths**0, label="by sqrt(d_k)")
    ax.loglog(widths, 1 / widths, label="by d_k")
    ax.set_xlabel("width")
    return ax
""",
        cost={"draw-tests": 1},
        told="its y axis has no label",
    ),
    "logarithms on logarithmic axes": Slip(
        "draw",
        """
def draw_variances(widths):
    fig, ax = plt.subplots()
    ax.loglog(np.log(widths), np.log(widths), label="raw")
    ax.loglog(np.log(widths), widths**0, label="by sqrt(d_k)")
    ax.loglog(np.log(widths), 1 / widths, label="by d_k")
    ax.set(xlabel="width", ylabel="variance")
    return ax
""",
        cost={"draw-tests": 3},
        told="draw_variances, line 'raw', x on shape (5,): entry [0]: expected 1, got 0",
    ),
    "standard deviations": Slip(
        "draw",
        """
def draw_variances(widths):
    fig, ax = plt.subplots()
    ax.loglog(widths, widths**0.5, label="raw")
    ax.loglog(widths, widths**0, label="by sqrt(d_k)")
    ax.loglog(widths, widths**-0.5, label="by d_k")
    ax.set(xlabel="width", ylabel="variance")
    return ax
""",
        cost={"draw-tests": 2},
        told="sd-for-variance",
    ),
    "widths of the example": Slip(
        "draw",
        """
def draw_variances(widths):
    widths = np.array([1.0, 2.0, 8.0, 64.0, 512.0])
    fig, ax = plt.subplots()
    ax.loglog(widths, widths, label="raw")
    ax.loglog(widths, widths**0, label="by sqrt(d_k)")
    ax.loglog(widths, 1 / widths, label="by d_k")
    ax.set(xlabel="width", ylabel="variance")
    return ax
""",
        cost={"draw-tests": 3},
        told="expected 7 numbers, got 5.",
    ),
    "two points of a level line": Slip(
        "draw",
        """
def draw_variances(widths):
    fig, ax = plt.subplots()
    ax.loglog(widths, widths, label="raw")
    ax.loglog([1, 512], [1, 1], label="by sqrt(d_k)")
    ax.loglog(widths, 1 / widths, label="by d_k")
    ax.set(xlabel="width", ylabel="variance")
    return ax
""",
        cost={"draw-tests": 1},
        told="line 'by sqrt(d_k)', x on shape (5,): expected 5 numbers, got 2.",
    ),
    "noise in percent": Slip(
        "chance",
        "noise = 100 * noise",
        adds=True,
        cost={"chance-tests": 1},
        told="noise: expected 0.0180",
    ),
    "noise times the width": Slip(
        "chance",
        "noise = width * noise",
        adds=True,
        cost={"chance-tests": 1},
        told="noise: expected 0.0180",
    ),
    "with its sign": Slip(
        "chance",
        "errors_away = (measured - width) / (width * noise)",
        adds=True,
        cost={"chance-tests": 1},
        told="errors_away: a distance has no sign.",
    ),
    "relative noise for a standard error": Slip(
        "chance",
        "errors_away = abs(measured - width) / noise",
        adds=True,
        cost={"chance-tests": 1},
        told="errors_away: expected 6.90",
    ),
    "percent for standard errors": Slip(
        "chance",
        "errors_away = 100 * abs(measured / width - 1)",
        adds=True,
        cost={"chance-tests": 1},
        told="errors_away: expected 6.90",
    ),
    "a verdict in words": Slip(
        "chance",
        'verdict = "wrong"',
        adds=True,
        cost={"chance-tests": 1},
        told="expected one of the letters",
    ),
    "partners counted with the entry itself": Slip(
        "chance",
        "matrix_noise = ((2 + 6 / width + 2 * (n_queries + n_keys) / width) / (n_queries * n_keys)) ** 0.5",
        adds=True,
        cost={"chance-tests": 1},
        told="matrix_noise: expected",
    ),
    "partners not shared out": Slip(
        "chance",
        "matrix_noise = ((2 + 6 / width + 2 * (n_queries + n_keys - 2)) / (n_queries * n_keys)) ** 0.5",
        adds=True,
        cost={"chance-tests": 1},
        told="matrix_noise: expected",
    ),
    "variances averaged, and the root of that": Slip(
        "predict",
        "variance = d_k * (var_q + var_k) / 2\nsd = variance**0.5",
        adds=True,
        cost={"predict-tests": 1},
        told="sd: it follows from your own variance, so it counts.",
    ),
    "two digits exchanged, and the root of that": Slip(
        "predict",
        "variance = 12.26\nsd = round(variance**0.5, 2)",
        adds=True,
        cost={"predict-tests": 1},
        told="sd: it follows from your own variance, so it counts.",
    ),
    "numbers of the example": Slip(
        "predict",
        "variance, sd = 1200.0, 34.64",
        adds=True,
        cost={"predict-tests": 2},
        told="It follows from your own variance: put that right first.",
    ),
    "noise in percent, and on from there": Slip(
        "chance",
        "noise = 100 * noise\nerrors_away = abs(measured / width - 1) / noise\nverdict = 'A'",
        adds=True,
        cost={"chance-tests": 1},
        told="verdict: it follows from your own errors_away, so it counts.",
    ),
}


def predict_example():
    return {
        "variance": score_variance(8, 0.5, 3.0),
        "sd": round(score_sd(8, 0.5, 3.0), 2),
        "bound": round(score_range(8), 2),
        "mean": score_mean(8, 0.5, 0.5),
    }


def chance_example():
    away = (64 - 60) / (64 * variance_noise(64, 1000))
    return {
        "noise": round(variance_noise(64, 1000), 4),
        "errors_away": round(away, 1),
        "verdict": "A",
        "matrix_noise": round(score_matrix_noise(64, 128, 128), 4),
    }


def numbers_in_words():
    d_k = entries("ada").d_k
    assert d_k == 101
    return [f"{d_k / d_k**2:.4f}"]


PROOF = Proof(
    assignment="variance-growth",
    tasks=7,
    points=20,
    right=RIGHT,
    slips=SLIPS | slips_of("variance-growth"),
    value_examples={"predict-question": predict_example, "chance-question": chance_example},
    model_numbers={"in-words": numbers_in_words},
    builds_on={"experiment-tests": ("measured",)},
    unseen={
        "draw-tests/variances-squared": "The figure is of entries of variance 1, whose square is 1.",
        "draw-tests/sds-multiplied": "The figure is of entries of variance 1, whose root is 1.",
    },
)
