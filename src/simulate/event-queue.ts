/**
 * Future events, the earliest first; at the same time, in the order of their addition. Implemented as a binary heap.
 */
export class EventQueue<T> {
  readonly #heap: { readonly at: number; readonly number: number; readonly event: T }[] = [];
  #added = 0;

  add(at: number, event: T): void {
    const heap = this.#heap;
    const added = { at, number: this.#added++, event };
    let index = heap.length;
    heap.push(added);
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || !isBefore(added, parent)) break;
      heap[index] = parent;
      index = above;
    }
    heap[index] = added;
  }

  next(): { readonly at: number; readonly event: T } | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let index = 0;
    for (;;) {
      let below = 2 * index + 1;
      let child = heap[below];
      if (child === undefined) break;
      const other = heap[below + 1];
      if (other !== undefined && isBefore(other, child)) {
        child = other;
        below += 1;
      }
      if (!isBefore(child, last)) break;
      heap[index] = child;
      index = below;
    }
    heap[index] = last;
    return first;
  }
}

interface Ordered {
  readonly at: number;
  readonly number: number;
}

function isBefore(one: Ordered, other: Ordered): boolean {
  return one.at < other.at || (one.at === other.at && one.number < other.number);
}
