/** The durations of the first items are unknown, so batches are small enough to measure them soon. */
const unknownMs = 1_000;

/**
 * Estimates each item's duration from its recent durations. A new item counts as the median of the known ones.
 *
 * `history` has milliseconds.
 */
export function estimateItems(
  items: readonly string[],
  history: ReadonlyMap<string, number>,
): { readonly item: string; readonly estimateMs: number }[] {
  const known = items.flatMap((item) => history.get(item) ?? []).toSorted((a, b) => a - b);
  const usual = known[Math.floor(known.length / 2)] ?? unknownMs;
  return items.map((item) => ({ item, estimateMs: history.get(item) ?? usual }));
}

/**
 * Returns the duration of each item of a batch in milliseconds: as the job reports it, or else its share of the batch's
 * time.
 *
 * The report is not trusted: unknown names and invalid times are ignored.
 */
export function durationsOf(
  items: readonly { readonly item: string; readonly estimateMs: number }[],
  batchMs: number,
  stated: Readonly<Record<string, unknown>>,
): { readonly item: string; readonly ms: number }[] {
  const estimated = items.reduce((sum, { estimateMs }) => sum + estimateMs, 0);
  return items.map(({ item, estimateMs }) => {
    const statedMs = Object.hasOwn(stated, item) ? stated[item] : undefined;
    if (typeof statedMs === "number" && statedMs >= 0 && statedMs <= batchMs)
      return { item, ms: statedMs };
    const share = estimated > 0 ? estimateMs / estimated : 1 / items.length;
    return { item, ms: batchMs * share };
  });
}
