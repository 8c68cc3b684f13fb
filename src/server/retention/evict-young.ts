import type { NamespacedBlob } from "#cas/evictable.ts";
import { namespaceOf } from "#cas/namespaces/namespace.ts";
import type { Digest } from "#core/digest.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import { takingTurns } from "#scheduling/take-turns.ts";
import type { EvictionServices } from "./evict.ts";
import type { Holds } from "./held-blobs.ts";
import { forgetNamesOf, namesUsedSince } from "./named-blobs.ts";
import { youngMs } from "./worth-of-blobs.ts";

const minuteMs = 60_000;
/**
 * A build that was just informed that a blob exists requests the action that needs it within this time. A build that
 * later learns that the blob is missing uploads it again.
 */
const untouchableMs = 10 * minuteMs;
/** The use of a result or an entry is recorded only once an hour, and by another clock. */
const recordedLateMs = 62 * minuteMs;
const removedAtOnce = 8;

/**
 * Removes young blobs that no result, cache entry, graph or action names, the least recently used first, until
 * `excessBytes` are removed or no removable blob is left. Returns the removed blobs.
 *
 * For a disk that fills up, and a store far above its limit, where all writes would fail soon. Inputs that a build has
 * uploaded and not used for ten minutes are removed, and the build uploads them again on request. Blobs that a build
 * was promised as the outputs of a result stay.
 */
export async function evictYoung(
  services: EvictionServices,
  holds: Holds,
  excessBytes: number,
  now: Date,
  signal: AbortSignal,
): Promise<{ readonly blobs: number; readonly bytes: number; readonly names: number }> {
  const { stored } = services;
  const turn = takingTurns();
  const youngSince = new Date(now.getTime() - youngMs - recordedLateMs);
  for await (const { project, digests } of namesUsedSince(services, youngSince, signal)) {
    const { firm } = holds.in(namespaceOf(project));
    for (const digest of digests) firm.add(digest);
  }
  const idleMs = ({ lastUsedAt }: { readonly lastUsedAt: Date }) =>
    now.getTime() - lastUsedAt.getTime();
  const mayGo = (blob: NamespacedBlob) =>
    idleMs(blob) >= untouchableMs && holds.of(blob.namespace, blob.digest) === undefined;

  // Bytes by minutes without use: of constant size, however many blobs there are.
  const byMinute = new Float64Array(Math.ceil(youngMs / minuteMs) + 1);
  const minuteOf = (blob: NamespacedBlob) =>
    Math.min(byMinute.length - 1, Math.floor(idleMs(blob) / minuteMs));
  for await (const blob of stored.list()) {
    await turn();
    signal.throwIfAborted();
    if (mayGo(blob))
      byMinute[minuteOf(blob)] = (byMinute[minuteOf(blob)] ?? 0) + blob.digest.sizeBytes;
  }
  let leastMinute = byMinute.length;
  for (let bytes = 0; leastMinute > 0 && bytes < excessBytes; )
    bytes += byMinute[--leastMinute] ?? 0;

  const goes = (blob: NamespacedBlob) => mayGo(blob) && minuteOf(blob) >= leastMinute;
  // Results that were not used lately may name some of them: these results are deleted first, as in any round.
  const names = await forgetNamesOf(
    services,
    youngSince,
    async (namespace, digest: Digest) => {
      const found = await stored.look(namespace, digest);
      return found === undefined || goes({ ...found, namespace });
    },
    signal,
  );
  const gone = { blobs: 0, bytes: 0 };
  let begunBytes = 0;
  // One millisecond later: a blob that was unused for exactly this long was chosen, and must not be spared.
  const leastIdleMs = Math.max(untouchableMs, leastMinute * minuteMs);
  const before = new Date(now.getTime() - leastIdleMs + 1);
  const remove = async (some: readonly NamespacedBlob[]) => {
    await mapAtMost(removedAtOnce, some, async ({ namespace, digest }) => {
      // Counted before the removal ends, because several removals run at once.
      if (begunBytes >= excessBytes) return;
      begunBytes += digest.sizeBytes;
      if (!(await stored.removeUnused(namespace, digest, before))) {
        begunBytes -= digest.sizeBytes;
        return;
      }
      gone.blobs++;
      gone.bytes += digest.sizeBytes;
    });
  };
  let some: NamespacedBlob[] = [];
  for await (const blob of stored.list()) {
    await turn();
    signal.throwIfAborted();
    if (goes(blob)) some.push(blob);
    if (some.length < 256) continue;
    await remove(some);
    some = [];
  }
  await remove(some);
  return { ...gone, names };
}
