# %% [learner-id]
learner_id = "keys-times-queries"

# %% [score-matrix]
def score_matrix(q, k):
    return k @ q.swapaxes(-1, -2)

# %% [softmax]
def softmax(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)

# %% [attention]
def attention(q, k, v):
    return softmax(score_matrix(k, q) / np.sqrt(q.shape[-1])) @ v

# %% [shapes]
weights_shape = (B, H, n_q, n_k)
output_shape = (B, H, n_q, d_v)

# %% [reading]
favourites = [int(row.argmax()) for row in W]
share = round(float(W[2, 0]), 2)
rest = round(1 - float(W[1].max()), 2)
meaning = "D"

# %% [by-hand]
raw_scores = [
    query[0] * keys[0][0] + query[1] * keys[0][1],
    query[0] * keys[1][0] + query[1] * keys[1][1],
]
scaled_scores = [raw_scores[0] / 2**0.5, raw_scores[1] / 2**0.5]
e0, e1 = np.exp(scaled_scores[0]), np.exp(scaled_scores[1])
weights = [e0 / (e0 + e1), e1 / (e0 + e1)]
output = [
    weights[0] * values[0][0] + weights[1] * values[1][0],
    weights[0] * values[0][1] + weights[1] * values[1][1],
]

# %% [in-words]
# Value 0, [2, 3], dominates: key 0 has the larger score, -2 against -6,
# so its value gets the weight 0.944.
