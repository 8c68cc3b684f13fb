import type { z } from "zod";
import { ForgePolicy, type ForgePolicyChange } from "#api/forge.ts";

export { ForgePolicy, type NeededPermission } from "#api/forge.ts";

/** Returns a policy with the named settings changed. Null resets a setting to the default. */
export function changedPolicy(
  before: z.input<typeof ForgePolicy>,
  { commands, ...change }: ForgePolicyChange,
): ForgePolicy {
  const usual = Object.entries(change).filter(([, value]) => value === null);
  const set = Object.entries(change).filter(([, value]) => value !== null && value !== undefined);
  const kept = Object.entries(before).filter(([name]) => !usual.some(([each]) => each === name));
  return ForgePolicy.parse({
    ...Object.fromEntries([...kept, ...set]),
    commands: { ...before.commands, ...commands },
  });
}
