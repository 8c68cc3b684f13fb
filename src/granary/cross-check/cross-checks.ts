import type { Divergence } from "#api/granary.ts";
import { keyText } from "#commit-index/result-key.ts";
import { digestKey } from "#core/digest.ts";
import type { Build } from "../builds/build.ts";
import type { GranaryResult } from "../granary-result.ts";
import { differences } from "./differences.ts";
import { isChosen } from "./is-chosen.ts";

/** Hides a share of hits from builds, which make these results again; then both are compared. */
interface CrossChecks {
  /** Returns whether this hit is hidden from a build. */
  hides(build: Build | undefined, hit: GranaryResult): boolean;
  /**
   * Returns the difference from the result of a build; undefined when nothing was hidden under its name, or the results
   * are equal.
   */
  divergence(build: Build | undefined, madeNow: GranaryResult): Promise<Divergence | undefined>;
}

/** Larger values are compared by their digests alone. */
const mostBytes = 16 * 1024 * 1024;

export function crossChecks(parts: {
  readonly share: number;
  readonly machine: string;
  readonly bytesOf: (build: Build, result: GranaryResult) => Promise<Uint8Array | undefined>;
  readonly now?: () => Date;
}): CrossChecks {
  const { share, machine, bytesOf, now = () => new Date() } = parts;
  // A weak map: nothing is kept for an ended build.
  const hidden = new WeakMap<Build, Map<string, GranaryResult | "checked">>();

  async function differs(build: Build, kept: GranaryResult, fresh: GranaryResult) {
    if (digestKey(kept.value) === digestKey(fresh.value)) return [];
    if (Math.max(kept.value.sizeBytes, fresh.value.sizeBytes) > mostBytes) return ["the bytes"];
    const [before, after] = await Promise.all([bytesOf(build, kept), bytesOf(build, fresh)]);
    // Missing blobs cannot be compared.
    if (before === undefined || after === undefined) return [];
    return differences(kept.namespace, before, after);
  }

  return {
    hides(build, hit) {
      if (build === undefined || !isChosen(share, build.id, hit)) return false;
      const ofBuild = hidden.get(build) ?? new Map<string, GranaryResult | "checked">();
      hidden.set(build, ofBuild);
      const known = ofBuild.get(keyText(hit));
      if (known === "checked") return false;
      if (known === undefined) ofBuild.set(keyText(hit), hit);
      return true;
    },

    async divergence(build, fresh) {
      const ofBuild = build && hidden.get(build);
      const kept = ofBuild?.get(keyText(fresh));
      if (
        build === undefined ||
        ofBuild === undefined ||
        kept === undefined ||
        kept === "checked"
      ) {
        return undefined;
      }
      ofBuild.set(keyText(fresh), "checked");
      const found = await differs(build, kept, fresh);
      if (found.length === 0) return undefined;
      return {
        namespace: fresh.namespace,
        key: fresh.key,
        kept: digestKey(kept.value),
        madeNow: digestKey(fresh.value),
        differs: found,
        machine,
        build: build.id,
        at: now().toISOString(),
      };
    },
  };
}
