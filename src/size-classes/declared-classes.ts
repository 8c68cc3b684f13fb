import { type Platform, serves } from "#core/platform.ts";
import type { Tx } from "#db/db.ts";
import type { SeenOffer } from "#execution/submitting/queued-kinds.store.ts";
import { type DeclaredClass, declaredClasses } from "./declared-classes.store.ts";

/**
 * Returns the declaration that a worker matches: among those of its size class whose platform it offers, the one with
 * the most properties.
 *
 * Undefined for a worker of an undeclared class.
 */
export function declarationOf(
  worker: { readonly platform: Platform; readonly sizeClass: number },
  declared: readonly DeclaredClass[],
): DeclaredClass | undefined {
  return declared
    .filter(
      ({ platform, sizeClass }) =>
        sizeClass === worker.sizeClass && serves(worker.platform, platform),
    )
    .toSorted((a, b) => propertiesOf(b) - propertiesOf(a))[0];
}

function propertiesOf({ platform }: DeclaredClass): number {
  return Object.keys(platform).length;
}

/** Whether more of its workers may be started. */
export function mayBeStarted({ mostWorkers }: Pick<DeclaredClass, "mostWorkers">): boolean {
  return mostWorkers !== 0;
}

/** Returns the offers of workers that may be started. */
export async function declaredOffers(tx: Tx): Promise<SeenOffer[]> {
  const declared = await declaredClasses(tx);
  return declared
    .filter(mayBeStarted)
    .map(({ platform, sizeClass }) => ({ platform, sizeClass, workers: 0 }));
}
