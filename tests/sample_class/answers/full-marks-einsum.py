# %% [learner-id]
learner_id = "full-marks-einsum"

# %% [score-matrix]
def score_matrix(q, k):
    return np.einsum("...id,...jd->...ij", q, k)

# %% [softmax]
def softmax(scores):
    shifted = scores - np.amax(scores, axis=-1)[..., None]
    # exp(x - log(sum)) in place of exp(x) / sum
    return np.exp(shifted - np.log(np.exp(shifted).sum(-1))[..., None])

# %% [attention]
def attention(q, k, v):
    d_k = q.shape[-1]
    weights = softmax(np.einsum("...id,...jd->...ij", q, k) * d_k**-0.5)
    return np.einsum("...ij,...jc->...ic", weights, v)

# %% [shapes]
weights_shape = [B, H, n_q, n_k]
output_shape = [B, H, n_q, d_v]

# %% [reading]
favourites = W.argmax(-1)
share = W[2, 0]
rest = W[1].sum() - W[1].max()
meaning = "d"

# %% [by-hand]
raw_scores = np.einsum("d,jd->j", query, keys)
scaled_scores = raw_scores / np.sqrt(2)
weights = softmax(scaled_scores)
output = np.einsum("j,jc->c", weights, values)

# %% [in-words]
# Value 0, [5, 8], dominates: key 0 has the larger score, 3 against -1,
# so its value gets the weight 0.944.
