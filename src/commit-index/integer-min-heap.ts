/** A binary heap of small integers, ordered by their weight, the least first. */
interface IntegerMinHeap {
  push(index: number, weight: number): void;
  least(): number | undefined;
  pop(): number | undefined;
}

/**
 * Returns a heap for at most `most` integers. It uses arrays of numbers, because ordering a transfer takes a million
 * moves.
 */
export function integerMinHeap(most: number): IntegerMinHeap {
  const indexes = new Int32Array(most);
  const weights = new Float64Array(most);
  let size = 0;

  function put(at: number, index: number, weight: number): void {
    indexes[at] = index;
    weights[at] = weight;
  }

  return {
    least: () => (size === 0 ? undefined : indexes[0]),

    push(index, weight) {
      let at = size++;
      while (at > 0) {
        const parent = (at - 1) >> 1;
        const above = weights[parent] as number;
        if (above <= weight) break;
        put(at, indexes[parent] as number, above);
        at = parent;
      }
      put(at, index, weight);
    },

    pop() {
      if (size === 0) return undefined;
      const least = indexes[0];
      size--;
      const index = indexes[size] as number;
      const weight = weights[size] as number;
      let at = 0;
      for (let child = 1; child < size; child = 2 * at + 1) {
        if (child + 1 < size && (weights[child + 1] as number) < (weights[child] as number))
          child++;
        const below = weights[child] as number;
        if (weight <= below) break;
        put(at, indexes[child] as number, below);
        at = child;
      }
      put(at, index, weight);
      return least;
    },
  };
}
