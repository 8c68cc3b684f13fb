import type { BuildUpdate, TargetUpdate } from "./build-update.ts";

/** All that a batch of news says of each target, as one piece of news for each. */
export function gatherTargets(news: readonly BuildUpdate[]): TargetUpdate[] {
  const gathered = new Map<string, TargetUpdate>();
  for (const one of news) {
    if (one.kind !== "target") continue;
    const key = `${one.label}\n${one.aspect}`;
    const before = gathered.get(key);
    gathered.set(key, before === undefined ? one : joinTargets(before, one));
  }
  return [...gathered.values()];
}

/** A target of several configurations is told several times: it succeeded when all did. */
function joinTargets(before: TargetUpdate, news: TargetUpdate): TargetUpdate {
  const { success = before.success } = news;
  return {
    ...before,
    ...news,
    ...(success === undefined ? {} : { success: success && before.success !== false }),
    ...(before.aborted === undefined ? {} : { aborted: before.aborted }),
    sets: [...(before.sets ?? []), ...(news.sets ?? [])],
    files: [...(before.files ?? []), ...(news.files ?? [])],
  };
}
