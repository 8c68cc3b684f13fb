import type { Principal } from "#access/principal.ts";
import type { Drain } from "#api/drain.ts";

/** Workers that are to take nothing new. */
export interface DrainFarm {
  drains(): Promise<Drain[]>;
  addDrain(
    wanted: { readonly pattern: string; readonly reason: string },
    by: Principal,
  ): Promise<Drain[]>;
  /** False when there was none. */
  removeDrain(pattern: string, by: Principal): Promise<boolean>;
}
