import type { ExecutionId } from "../execution.ts";

/** A waiting claim of a worker, and the images on the worker's disk. */
interface Claiming {
  readonly instanceId: string;
  /** The highest number of executions. */
  readonly most: number;
  readonly images: readonly string[];
}

/**
 * Returns for each execution the claiming worker that has its image; undefined when none has, or when all that have it
 * get others.
 *
 * @param ids In the order in which they are handed out.
 */
export function workersByImage(
  ids: readonly ExecutionId[],
  imageOf: ReadonlyMap<ExecutionId, string>,
  claiming: readonly Claiming[],
): (id: ExecutionId) => string | undefined {
  const left = new Map(claiming.map(({ instanceId, most }) => [instanceId, most]));
  const leftAt = (instanceId: string) => left.get(instanceId) ?? 0;
  const keptFor = new Map<ExecutionId, string>();
  for (const id of ids) {
    const image = imageOf.get(id);
    if (image === undefined) continue;
    const holders = claiming.filter(
      ({ instanceId, images }) => leftAt(instanceId) > 0 && images.includes(image),
    );
    const [holder] = holders.toSorted((a, b) => leftAt(b.instanceId) - leftAt(a.instanceId));
    if (holder === undefined) continue;
    left.set(holder.instanceId, leftAt(holder.instanceId) - 1);
    keptFor.set(id, holder.instanceId);
  }
  return (id) => keptFor.get(id);
}
