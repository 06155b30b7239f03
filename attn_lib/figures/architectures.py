"""Sizes of published models, as their papers state them."""

from __future__ import annotations

from typing import NamedTuple


class Architecture(NamedTuple):
    """Sizes of a Transformer."""

    name: str  #: as its paper calls it
    layers: int  #: number of layers; of the encoder where there is a decoder too
    d_model: int  #: width of a token
    heads: int  #: query heads
    kv_heads: int  #: heads of keys and values
    context: int  #: longest text, in tokens, that the paper names, or else a usual one


#: Vaswani et al. 2017, table 3, *base*; it names no longest text, 512 tokens are ours.
#: Devlin et al. 2019, section 3 and appendix A.2, *large*.
#: Brown et al. 2020, table 2.1, *175B*, and section 2.1.
#: Grattafiori et al. 2024, table 3 and section 3.4.2, *8B* and *405B*.
ARCHITECTURES = (
    Architecture("Transformer, base", 6, 512, 8, 8, 512),
    Architecture("BERT, large", 24, 1024, 16, 16, 512),
    Architecture("GPT-3", 96, 12288, 96, 96, 2048),
    Architecture("Llama 3, 8B", 32, 4096, 32, 8, 2**17),
    Architecture("Llama 3, 405B", 126, 16384, 128, 8, 2**17),
)
