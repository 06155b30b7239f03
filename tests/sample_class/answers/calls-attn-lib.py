# %% [learner-id]
learner_id = "calls-attn-lib"

# %% [score-matrix]
def score_matrix(q, k):
    return q @ k.swapaxes(-1, -2)

# %% [softmax]
import attn_lib


def softmax(scores):
    return attn_lib.softmax(scores)

# %% [attention]
def attention(q, k, v):
    return attn_lib.scaled_dot_product_attention(q, k, v)

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
# Value 0, [4, 8], dominates: key 0 has the larger score, 3 against -1,
# so its value gets the weight 0.944.
