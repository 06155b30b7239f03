# %% [learner-id]
learner_id = "full-marks-loops"

# %% [score-matrix]
def score_matrix(q, k):
    if q.ndim > 2:
        return np.array([score_matrix(a, b) for a, b in zip(q, k)])
    scores = []
    for query in q:
        row = []
        for key in k:
            total = 0.0
            for a, b in zip(query, key):
                total += a * b
            row.append(total)
        scores.append(row)
    return scores

# %% [softmax]
from math import exp


def softmax(scores):
    if np.ndim(scores) > 1:
        return [softmax(row) for row in scores]
    largest = max(scores)
    exponentials = [exp(score - largest) for score in scores]
    return [e / sum(exponentials) for e in exponentials]

# %% [attention]
def attention(q, k, v):
    if q.ndim > 2:
        return [attention(*heads) for heads in zip(q, k, v)]
    d_k = len(q[0])
    output = []
    for row in score_matrix(q, k):
        weights = softmax([score / d_k**0.5 for score in row])
        mixed = [0.0] * v.shape[1]
        for weight, value in zip(weights, v):
            for c in range(v.shape[1]):
                mixed[c] += weight * value[c]
        output.append(mixed)
    return output

# %% [shapes]
weights_shape = (B, H, n_q, n_k)
output_shape = (B, H, n_q, d_v)

# %% [reading]
favourites = [int(row.argmax()) for row in W]
share = round(float(W[2, 0]), 2)
rest = round(1 - float(W[1].max()), 2)
meaning = "D"

# %% [by-hand]
raw_scores = []
for key in keys:
    raw_scores.append(sum(a * b for a, b in zip(query, key)))
scaled_scores = [score / np.sqrt(2) for score in raw_scores]
total = sum(np.exp(score) for score in scaled_scores)
weights = [round(np.exp(score) / total, 3) for score in scaled_scores]
output = []
for c in range(2):
    output.append(sum(np.exp(s) / total * value[c] for s, value in zip(scaled_scores, values)))

# %% [in-words]
# Value 1, [4, 8], dominates: key 1 has the larger score, 2 against -3,
# so its value gets the weight 0.972.
