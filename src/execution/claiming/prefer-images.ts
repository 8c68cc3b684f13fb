import type { ExecutionId } from "../execution.ts";

/** A waiting claim of a worker, and the images on the worker's disk. */
interface Claiming {
  readonly instanceId: string;
  /** The highest number of executions. */
  readonly most: number;
  readonly images: readonly string[];
}

/**
 * Returns for each execution the claiming worker that has most of its images; undefined when none has any, or when all
 * that have one get others.
 *
 * @param ids In the order in which they are handed out.
 */
export function workersByImage(
  ids: readonly ExecutionId[],
  imagesOf: ReadonlyMap<ExecutionId, readonly string[]>,
  claiming: readonly Claiming[],
): (id: ExecutionId) => string | undefined {
  const left = new Map(claiming.map(({ instanceId, most }) => [instanceId, most]));
  const leftAt = (instanceId: string) => left.get(instanceId) ?? 0;
  const keptFor = new Map<ExecutionId, string>();
  for (const id of ids) {
    const needed = imagesOf.get(id);
    if (needed === undefined) continue;
    const held = ({ images }: Claiming) => needed.filter((image) => images.includes(image)).length;
    const holders = claiming.filter((each) => leftAt(each.instanceId) > 0 && held(each) > 0);
    const [holder] = holders.toSorted(
      (a, b) => held(b) - held(a) || leftAt(b.instanceId) - leftAt(a.instanceId),
    );
    if (holder === undefined) continue;
    left.set(holder.instanceId, leftAt(holder.instanceId) - 1);
    keptFor.set(id, holder.instanceId);
  }
  return (id) => keptFor.get(id);
}
