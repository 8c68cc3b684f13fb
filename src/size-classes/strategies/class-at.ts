import { Fault } from "#core/fault.ts";
import type { OfferedClass, Situation } from "../strategy.ts";

export function leastOf(situation: Situation): OfferedClass {
  return classAt(situation, 0);
}

export function greatestOf(situation: Situation): OfferedClass {
  return classAt(situation, situation.classes.length - 1);
}

export function classAt({ classes }: Situation, index: number): OfferedClass {
  const offered = classes[index];
  if (offered === undefined) {
    throw new Fault(
      "internal",
      `there is no size class at index ${index} of ${classes.length} offered ones; at least one must be offered`,
    );
  }
  return offered;
}
