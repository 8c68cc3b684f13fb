import type { Need } from "../../test/support/needs/needs.ts";

/** Throws, with the reasons, where a need is not met: the row then says that it could not be measured. */
export function requireNeeds(needs: readonly Need[]): void {
  const lacks = needs.flatMap(({ name, missing }) =>
    missing === undefined ? [] : [`${name} (${missing})`],
  );
  if (lacks.length > 0) throw new Error(`it needs ${lacks.join(", ")}`);
}
