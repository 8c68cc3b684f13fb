import { z } from "zod";

/**
 * REv2 platform properties: the requirements of an action, or the offer of a worker.
 *
 * A worker serves an action when it offers every property that the action requires, except those that instruct the farm
 * (see `instructions`).
 */
export const Platform = z.record(z.string().min(1).max(256), z.string().max(1_024));
export type Platform = z.infer<typeof Platform>;

/**
 * The property with which an action carries its rules, as canonical JSON (`outcome-rules.ts`).
 *
 * The rules are part of the action because its result depends on them: with other rules, the result in the cache would
 * differ.
 */
export const rulesProperty = "rules";

/**
 * The property under which an action says which secrets it is given (`secret-reference.ts`). Only the farm writes it:
 * definitions and build tools are refused that have it.
 */
export const secretsProperty = "grange-secrets";

/**
 * The property with which a granary states the build environment of a client: with another compiler, the action is
 * another one. It is part of the action's digest and requires nothing of a worker.
 */
export const environmentProperty = "grange-environment";

/** Properties that tell the farm how to run an action; no worker needs to offer them. */
const instructions = new Set([
  "network",
  "cpus",
  "memory",
  "outputs",
  rulesProperty,
  secretsProperty,
  environmentProperty,
  "size-class",
  "min-size-class",
  "max-size-class",
]);

/**
 * Properties whose values are names of REv2's platform lexicon, which are lower case there. The documentation of many
 * clients writes `Linux`, and such an action would wait forever.
 */
const caseless = new Set(["OSFamily", "ISA"]);

/** A platform with the one spelling of those values that may be spelled in several ways. */
export function spelledAlike(platform: Platform): Platform {
  return Object.fromEntries(
    Object.entries(platform).map(([name, value]) => [
      name,
      caseless.has(name) ? value.toLowerCase() : value,
    ]),
  );
}

/** The properties that a worker must offer, spelled alike. */
export function requirementsOf(platform: Platform): Platform {
  return spelledAlike(
    Object.fromEntries(Object.entries(platform).filter(([name]) => !instructions.has(name))),
  );
}

/** Returns the same text for equal platforms, whatever the order of their properties. */
export function platformKey(platform: Platform): string {
  return JSON.stringify(
    Object.entries(platform).toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)),
  );
}

/**
 * The property under which a worker names, with commas between, those of its properties that an action must ask
 * for: a fence. Without it a worker takes whatever asks for nothing that it lacks.
 */
export const fenceProperty = "grange-only-for";

/** Whether a worker that offers `offered` may run what asks for `asked`. */
export function serves(offered: Platform, required: Platform): boolean {
  return offersAll(offered, required) && fenceAround(offered, required).length === 0;
}

/** The properties that an action does not ask for, and must for this worker to take it. */
export function fenceAround(offered: Platform, required: Platform): string[] {
  const names = offered[fenceProperty]?.split(",") ?? [];
  return names.filter((name) => !Object.hasOwn(required, name));
}

/** Whether a worker has every required property, whatever additional properties it requires itself. */
export function offersAll(offered: Platform, required: Platform): boolean {
  const offer = spelledAlike(offered);
  return Object.entries(requirementsOf(required)).every(([name, value]) => offer[name] === value);
}
