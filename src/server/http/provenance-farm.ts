import type { Provenance } from "#api/provenance.ts";

/** What the farm attests of outputs. */
export interface ProvenanceFarm {
  /** Takes `<hash>` or `<hash>/<size>`; undefined when no run that the farm trusts has made it. */
  provenance(digest: string): Promise<Provenance | undefined>;
}
