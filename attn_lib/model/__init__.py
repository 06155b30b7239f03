"""A transformer small enough to read completely, trained with the attention of attn_lib.

From text to the next word:

- `language` and `vocabulary`: a toy language of two skills, its words and their ids.
- `transformer`: the model, from ids to logits, with every array on the way; `positions` and
  `layers` are its parts, `weights` the trained one.
- `gradients`, `adam` and `training`: how it learned; `train` is the command that does it again.
- `sampling`: how it writes, with a cache and without.
- `measures` and `heads`: what it can do, and which head does what.
- `parts` and `replacing`: another attention, softmax or mask in place of the right one.
- `trials`: training with another scale, from another start, and without the mask.
"""

from attn_lib.model.adam import Adam
from attn_lib.model.gradients import backward
from attn_lib.model.heads import Head, find_heads, head_scores, logit_parts, without_head
from attn_lib.model.language import (
    Answer,
    Sentence,
    agreement_sentence,
    draw_sentences,
    has_opposed_attractor,
    is_held_out,
    recall_sentence,
)
from attn_lib.model.layers import feed_forward, layer_norm
from attn_lib.model.measures import CHANCE, accuracy, answer_logits, shares_right
from attn_lib.model.parts import RIGHT, Attention, Parts, scaled_attention
from attn_lib.model.positions import alibi_bias, rotate, sinusoidal
from attn_lib.model.replacing import STEPS, replacement, softmax_vjp, weights_attention
from attn_lib.model.sampling import Generation, generate, multiplications
from attn_lib.model.training import (
    CONFIG,
    Training,
    TrainingBatch,
    cross_entropy,
    loss_and_gradients,
    train_model,
    training_batch,
)
from attn_lib.model.transformer import Config, Transformer, forward, initialise, layer_names
from attn_lib.model.vocabulary import WORDS, Batch, decode, encode, encode_batch
from attn_lib.model.weights import load, save, trained_model

__all__ = [
    "CHANCE",
    "CONFIG",
    "RIGHT",
    "STEPS",
    "WORDS",
    "Adam",
    "Answer",
    "Attention",
    "Batch",
    "Config",
    "Generation",
    "Head",
    "Parts",
    "Sentence",
    "Training",
    "TrainingBatch",
    "Transformer",
    "accuracy",
    "agreement_sentence",
    "alibi_bias",
    "answer_logits",
    "backward",
    "cross_entropy",
    "decode",
    "draw_sentences",
    "encode",
    "encode_batch",
    "feed_forward",
    "find_heads",
    "forward",
    "generate",
    "has_opposed_attractor",
    "head_scores",
    "initialise",
    "is_held_out",
    "layer_names",
    "layer_norm",
    "load",
    "logit_parts",
    "loss_and_gradients",
    "multiplications",
    "recall_sentence",
    "replacement",
    "rotate",
    "save",
    "scaled_attention",
    "shares_right",
    "sinusoidal",
    "softmax_vjp",
    "train_model",
    "trained_model",
    "training_batch",
    "weights_attention",
    "without_head",
]
