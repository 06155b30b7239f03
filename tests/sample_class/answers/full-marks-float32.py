# %% [learner-id]
learner_id = "full-marks-float32"

# %% [score-matrix]
def score_matrix(q, k):
    q = np.asarray(q, dtype=np.float32)
    k = np.asarray(k, dtype=np.float32)
    return np.matmul(q, np.swapaxes(k, axis1=-1, axis2=-2), dtype=np.float32)

# %% [softmax]
def softmax(scores):
    scores = np.asarray(scores, dtype=np.float32)
    largest = np.max(scores, axis=-1, keepdims=True)
    exponentials = np.exp(np.subtract(scores, largest), dtype=np.float32)
    return np.divide(exponentials, np.sum(exponentials, axis=-1, keepdims=True))

# %% [attention]
def attention(q, k, v):
    root = np.sqrt(np.float32(q.shape[-1]))
    weights = softmax(scores=score_matrix(q=q, k=k) / root)
    return np.matmul(weights, np.asarray(v, dtype=np.float32))

# %% [shapes]
weights_shape = (B, H, n_q, n_k)
output_shape = (B, H, n_q, d_v)

# %% [reading]
favourites = [int(row.argmax()) for row in W]
share = round(float(W[2, 0]), 2)
rest = round(1 - float(W[1].max()), 2)
meaning = "D"

# %% [by-hand]
raw_scores = (keys @ query).astype(np.float32)
scaled_scores = np.round(raw_scores / np.sqrt(np.float32(2)), decimals=3)
weights = np.round(softmax(scores=raw_scores / np.sqrt(np.float32(2))), decimals=3)
output = np.round(attention(q=query[None], k=keys, v=values)[0], decimals=3)

# %% [in-words]
# Value 0, [1, 1], dominates: key 0 has the larger score, 3 against -2,
# so its value gets the weight 0.972.
