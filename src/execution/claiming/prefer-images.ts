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
  const room = new Map(claiming.map(({ instanceId, most }) => [instanceId, most]));
  const keptFor = new Map<ExecutionId, string>();
  for (const id of ids) {
    const image = imageOf.get(id);
    if (image === undefined) continue;
    const holders = claiming.filter(
      ({ instanceId, images }) => (room.get(instanceId) ?? 0) > 0 && images.includes(image),
    );
    const free = (instanceId: string) => room.get(instanceId) ?? 0;
    const [holder] = holders.toSorted((a, b) => free(b.instanceId) - free(a.instanceId));
    if (holder === undefined) continue;
    room.set(holder.instanceId, free(holder.instanceId) - 1);
    keptFor.set(id, holder.instanceId);
  }
  return (id) => keptFor.get(id);
}
