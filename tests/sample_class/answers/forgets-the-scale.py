# %% [learner-id]
learner_id = "forgets-the-scale"

# %% [score-matrix]
def score_matrix(q, k):
    return q @ k.swapaxes(-1, -2)

# %% [softmax]
def softmax(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)

# %% [attention]
def attention(q, k, v):
    return softmax(score_matrix(q, k) / np.sqrt(q.shape[-1])) @ v

# %% [shapes]
weights_shape = (B, H, n_q, n_k)
output_shape = (B, H, n_q, d_v)

# %% [reading]
favourites = [int(row.argmax()) for row in W]
share = round(float(W[2, 0]), 2)
rest = round(1 - float(W[1].max()), 2)
meaning = "D"

# %% [by-hand]
raw_scores = query @ keys.T
scaled_scores = raw_scores
weights = softmax(scaled_scores)
output = weights @ values

# %% [in-words]
# Value 1, [8, 2], dominates: key 1 has the larger score, 1 against -3,
# so its value gets the weight 0.944.
