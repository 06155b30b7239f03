// Two of NumPy's generators: the same seed draws the same numbers.
"use strict";

// np.random.default_rng(seed).random: SeedSequence and PCG64 (O'Neill 2014, "PCG", section 6.3,
// XSL-RR 128/64).
const generator = (() => {
  const WORDS = 4; // of 32 bits, in a SeedSequence's pool
  const MASK_64 = (1n << 64n) - 1n;
  const MASK_128 = (1n << 128n) - 1n;
  const MULTIPLIER = 0x2360ed051fc65da44385df649fccf645n;

  const times = (a, b) => Math.imul(a, b) >>> 0;
  const fold = (x) => (x ^ (x >>> 16)) >>> 0;

  function hasher(constant, multiplier) {
    return (value) => {
      value = (value ^ constant) >>> 0;
      constant = times(constant, multiplier);
      return fold(times(value, constant));
    };
  }

  const mixed = (x, y) => fold((times(0xca01f9dd, x) - times(0x4973f715, y)) >>> 0);

  function seedWords(seed) { // eight words of 32 bits
    const entropy = [];
    for (let rest = BigInt(seed); rest > 0n || !entropy.length; rest >>= 32n) {
      entropy.push(Number(rest & 0xffffffffn));
    }
    const hash = hasher(0x43b0d7e5, 0x931e8875);
    const pool = Array.from({ length: WORDS }, (_, i) => hash(entropy[i] ?? 0));
    for (let from = 0; from < WORDS; from++) {
      for (let to = 0; to < WORDS; to++) {
        if (from !== to) pool[to] = mixed(pool[to], hash(pool[from]));
      }
    }
    for (const word of entropy.slice(WORDS)) {
      for (let to = 0; to < WORDS; to++) pool[to] = mixed(pool[to], hash(word));
    }
    const draw = hasher(0x8b51f9dd, 0x58f38ded);
    return Array.from({ length: 2 * WORDS }, (_, i) => draw(pool[i % WORDS]));
  }

  return function generator(seed) { // a function that returns numbers in [0, 1)
    const words = seedWords(seed).map(BigInt);
    const [stateHigh, stateLow, streamHigh, streamLow] = [0, 2, 4, 6].map(
      (i) => (words[i + 1] << 32n) | words[i]);
    const increment = ((((streamHigh << 64n) | streamLow) << 1n) | 1n) & MASK_128;
    let state = 0n;
    const step = () => { state = (state * MULTIPLIER + increment) & MASK_128; };
    step();
    state = (state + ((stateHigh << 64n) | stateLow)) & MASK_128;
    step();
    return () => {
      step();
      const both = ((state >> 64n) ^ state) & MASK_64;
      const turn = state >> 122n;
      const bits = ((both >> turn) | (both << ((64n - turn) & 63n))) & MASK_64;
      return Number(bits >> 11n) / 2 ** 53;
    };
  };
})();

// np.random.RandomState(seed), for millions of numbers: PCG64 needs integers of 128 bits, which are
// slow in a page. The Mersenne Twister (Matsumoto and Nishimura 1998) needs 32, and the polar method
// (Marsaglia and Bray 1964) makes two normal numbers at a time.
function randomState(seed) { // a whole number below 2³²
  const [SIZE, AHEAD] = [624, 397];
  const state = new Int32Array(SIZE); // signed, which engines compute with faster
  state[0] = seed;
  for (let i = 1; i < SIZE; i++) {
    state[i] = Math.imul(1812433253, state[i - 1] ^ (state[i - 1] >>> 30)) + i;
  }
  let place = SIZE;
  let spare = null;

  function renew() {
    for (let i = 0; i < SIZE; i++) {
      const bits = (state[i] & 0x80000000) | (state[i + 1 < SIZE ? i + 1 : 0] & 0x7fffffff);
      const other = state[i + AHEAD < SIZE ? i + AHEAD : i + AHEAD - SIZE];
      state[i] = other ^ (bits >>> 1) ^ (-(bits & 1) & 0x9908b0df);
    }
    place = 0;
  }

  function word() { // of 32 bits
    if (place === SIZE) renew();
    let bits = state[place++];
    bits ^= bits >>> 11;
    bits ^= (bits << 7) & 0x9d2c5680;
    bits ^= (bits << 15) & 0xefc60000;
    return bits ^ (bits >>> 18);
  }

  const uniform = () => ((word() >>> 5) * 2 ** 26 + (word() >>> 6)) / 2 ** 53; // in [0, 1)

  function normal() {
    if (spare !== null) {
      const kept = spare;
      spare = null;
      return kept;
    }
    let x, y, square;
    do {
      x = 2 * uniform() - 1;
      y = 2 * uniform() - 1;
      square = x * x + y * y;
    } while (square >= 1 || square === 0);
    const length = Math.sqrt((-2 * Math.log(square)) / square);
    spare = length * x;
    return length * y;
  }

  return { uniform, normal };
}
