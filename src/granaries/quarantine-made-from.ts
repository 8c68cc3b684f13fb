import { ResultKey } from "#commit-index/result-key.ts";
import { digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { protectedDomain } from "#core/trust-domain.ts";
import type { Tx } from "#db/db.ts";
import { madeAfterGiven } from "./granary-build.store.ts";
import { hide, keptResult } from "./hide-result.ts";
import { addQuarantine, foundAt, lockQuarantine } from "./quarantine.store.ts";

/** As many as one report contains. */
const mostMade = 2_000;

/**
 * Puts results into quarantine that may have been made from a doubted result: all results that builds made after they
 * had received it. This may include too many results of the known builds, but never too few; the cost is making them
 * again. They are released together with it.
 *
 * Returns how many were added. Throws `not_found` when the result itself is not in quarantine.
 */
export async function quarantineMadeFrom(
  tx: Tx,
  project: string,
  result: { readonly namespace: string; readonly key: string },
  by: { readonly name: string; readonly now: Date },
): Promise<number> {
  await lockQuarantine(tx, project);
  const doubted = ResultKey.safeParse(result);
  const since = doubted.success ? await foundAt(tx, project, doubted.data) : undefined;
  if (!doubted.success || since === undefined) {
    throw new Fault(
      "not_found",
      `${result.namespace} ${result.key} of project ${project} is not in quarantine`,
    );
  }
  let added = 0;
  for (const { build, ...made } of await madeAfterGiven(
    tx,
    project,
    doubted.data,
    since,
    mostMade,
  )) {
    const kept = await keptResult(tx, project, made, ({ domain }) => domain === protectedDomain);
    if (kept === undefined || kept.isQuarantined) continue;
    await addQuarantine(tx, {
      ...made,
      project,
      foundBy: by.name,
      producer: kept.producer,
      madeFrom: doubted.data,
      divergence: {
        ...made,
        kept: digestKey(kept.value),
        // Empty, because the result was not made again.
        madeNow: "",
        differs: [],
        machine: "",
        build,
        at: by.now.toISOString(),
      },
    });
    await hide(tx, project, made, kept);
    added++;
  }
  return added;
}
