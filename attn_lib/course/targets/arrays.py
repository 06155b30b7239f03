"""The type of the arrays that targets take and give."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]
