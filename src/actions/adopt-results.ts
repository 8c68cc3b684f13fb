import type { Db } from "#db/db.ts";
import { endAdoption, lockAdoption, saveAdopted, unsignedResults } from "./adopt-results.store.ts";
import type { ResultSeals, ResultStatement } from "./result-seals.ts";

/** Signing so many takes about 40 ms. */
const usuallyAtOnce = 1_000;

/** The outcome of adopting the results from before the farm signed. */
type AdoptionEnd =
  | { readonly kind: "adopted"; readonly results: number }
  /** The adoption was finished earlier; since then, results without a signature are ignored. */
  | { readonly kind: "done before"; readonly keyId: string | undefined }
  /**
   * The adoption was reset although the farm has already signed results. It is refused, because unsigned results may
   * now be foreign.
   */
  | { readonly kind: "refused" };

/**
 * Signs the `protected` results from before the farm had a key, once, and marks each as adopted.
 *
 * All in one transaction, so that after a crash nothing is adopted and the next server starts again.
 */
export function adoptResults(
  db: Db,
  { keyId, sealOf }: Pick<ResultSeals, "sealOf"> & { readonly keyId: string },
  now: Date,
  atOnce = usuallyAtOnce,
): Promise<AdoptionEnd> {
  return db.transaction(async (tx) => {
    const adoption = await lockAdoption(tx);
    if (adoption === undefined || adoption.isDone)
      return { kind: "done before", keyId: adoption?.keyId ?? undefined };
    if (adoption.hasSigned) return { kind: "refused" };
    let results = 0;
    let after = { project: "", action: "" };
    for (;;) {
      const found = await unsignedResults(tx, adoption.before, after, atOnce);
      const sealed = found.flatMap((unsigned) => {
        const statement: ResultStatement = { ...unsigned, isAdopted: true };
        const seal = sealOf(statement);
        return seal === undefined ? [] : [{ statement, seal }];
      });
      if (sealed.length > 0) await saveAdopted(tx, sealed);
      results += sealed.length;
      after = found.at(-1) ?? after;
      if (found.length < atOnce) break;
    }
    await endAdoption(tx, keyId, results, now);
    return { kind: "adopted", results };
  });
}
