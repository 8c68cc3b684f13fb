import { setImmediate } from "node:timers/promises";

/** So short that other requests are not noticeably delayed, in ms. */
const turnMs = 20;

/**
 * Divides a long piece of work into turns. Await the returned function at each step: it lets the process do other work
 * when this work has run for 20 ms.
 */
export function turns(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < turnMs) return undefined;
    return setImmediate().then(() => {
      since = performance.now();
    });
  };
}

/** Maps the items in turns with other work. */
export async function mapInTurns<Item, Made>(
  items: Iterable<Item>,
  make: (item: Item) => Made,
): Promise<Made[]> {
  const turn = turns();
  const made: Made[] = [];
  for (const item of items) {
    const waiting = turn();
    if (waiting !== undefined) await waiting;
    made.push(make(item));
  }
  return made;
}

/** Divides a list into parts of at most `size`, none of them empty. */
export function partsOf<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) =>
    items.slice(i * size, (i + 1) * size),
  );
}
