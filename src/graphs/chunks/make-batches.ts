/** An item that is in no batch. */
export interface WaitingItem {
  readonly item: string;
  readonly estimateMs: number;
  /** For an item that is tried again: its group, whose items stay together. */
  readonly again: number | null;
}

/** The current and the allowed number of batches. */
export interface Capacity {
  /** Planned, queued or running. */
  readonly underWay: number;
  /** How many of them run. */
  readonly running: number;
  /** Idle slots of workers that serve the job. */
  readonly idle: number;
  readonly min: number;
  readonly max: number;
  readonly budgetMs: number;
}

/** Returns the target number of simultaneous batches: as many as find a worker, but at least `min`. */
export function batchesAtOnce({ running, idle, min, max }: Capacity): number {
  return Math.min(max, Math.max(min, running + idle));
}

/**
 * Returns the batches to begin now, as lists of items; each waiting item is in at most one.
 *
 * Groups of items that are retried come first, unchanged. Of the others, the largest come first. A batch takes half of
 * each worker's share of the remaining time, so that batches shrink towards the end and no worker is left with a long
 * one; but never more than the budget.
 */
export function makeBatches(waiting: readonly WaitingItem[], room: Capacity): string[][] {
  const atOnce = batchesAtOnce(room);
  const free = atOnce - room.underWay;
  if (free <= 0) return [];
  const again = groupsOf(waiting).slice(0, free);
  return [...again, ...freshBatches(waiting, free - again.length, atOnce, room.budgetMs)];
}

function groupsOf(waiting: readonly WaitingItem[]): string[][] {
  const groups = new Map<number, string[]>();
  for (const { item, again } of waiting) {
    if (again === null) continue;
    const group = groups.get(again) ?? [];
    groups.set(again, group);
    group.push(item);
  }
  return [...groups].toSorted(([a], [b]) => a - b).map(([, items]) => items);
}

function freshBatches(
  waiting: readonly WaitingItem[],
  most: number,
  atOnce: number,
  budgetMs: number,
): string[][] {
  let rest = waiting
    .filter(({ again }) => again === null)
    .toSorted((a, b) => b.estimateMs - a.estimateMs || (a.item < b.item ? -1 : 1));
  const batches: string[][] = [];
  while (batches.length < most && rest.length > 0) {
    const restMs = rest.reduce((sum, { estimateMs }) => sum + estimateMs, 0);
    const sizeMs = Math.min(budgetMs, restMs / (2 * atOnce));
    const batch: string[] = [];
    const left: WaitingItem[] = [];
    let ms = 0;
    for (const one of rest) {
      if (batch.length === 0 || ms + one.estimateMs <= sizeMs) {
        batch.push(one.item);
        ms += one.estimateMs;
      } else left.push(one);
    }
    batches.push(batch);
    rest = left;
  }
  return batches;
}
