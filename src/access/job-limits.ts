import type { Verb } from "#core/verb.ts";
import { matchesPattern } from "./matches-pattern.ts";
import { type Grant, grantsFor, type Principal, type Where } from "./principal.ts";

type Requested = Readonly<Record<string, string | number | boolean>>;

/**
 * Properties that tell the farm how to run a job, or that have their own limit: label patterns do not apply to them.
 */
const noLabels: ReadonlySet<string> = new Set([
  "pool",
  "size-class",
  "min-size-class",
  "max-size-class",
  "network",
  "cpus",
  "memory",
  "rules",
  "grange-secrets",
  "grange-token",
]);

const sizeProperties = ["size-class", "min-size-class", "max-size-class"];

/**
 * Returns the grants that restrict the jobs of a principal; undefined when one of its grants does not restrict jobs
 * (the usual case). Also undefined without any grant: another check then refuses the caller.
 */
export function jobLimits(
  principal: Principal,
  verb: Verb,
  where: Where,
): readonly Grant[] | undefined {
  const grants = grantsFor(principal, [verb], where);
  return grants.length === 0 || grants.some(isUnlimited) ? undefined : grants;
}

function isUnlimited({ pool, label, sizeClassCap }: Grant): boolean {
  return pool === undefined && label === undefined && sizeClassCap === undefined;
}

/**
 * Returns a requirement of a job that no grant allows; undefined when one grant allows the whole job.
 *
 * One grant must allow all of it: two grants that each allow a part do not add up.
 */
export function requestedTooMuch(
  platform: Requested,
  limits: readonly Grant[],
): string | undefined {
  const refusals = limits.map((grant) => beyond(platform, grant));
  return refusals.includes(undefined) ? undefined : refusals[0];
}

function beyond(platform: Requested, { pool, label, sizeClassCap }: Grant): string | undefined {
  const asksPool = String(platform["pool"] ?? "default");
  if (pool !== undefined && !matchesPattern(pool, asksPool)) return `the pool ${asksPool}`;
  for (const name of sizeClassCap === undefined ? [] : sizeProperties) {
    const required = Number(platform[name] ?? 1);
    // A value that is no number is refused later, by the code that reads it.
    if (required > (sizeClassCap ?? required)) return `${name} ${required}`;
  }
  // Property values contain no comma in practice, so one grant can list several patterns.
  const patterns = label?.split(",").map((pattern) => pattern.trim());
  for (const [name, value] of patterns === undefined ? [] : Object.entries(platform)) {
    const asked = `${name}=${value}`;
    if (noLabels.has(name) || patterns?.some((pattern) => matchesPattern(pattern, asked))) continue;
    return asked;
  }
  return undefined;
}

/** The expected worker minutes that one graph may need: the highest of the caps; undefined for no limit. */
export function costCapOf(principal: Principal, verb: Verb, where: Where): number | undefined {
  const grants = grantsFor(principal, [verb], where);
  if (grants.length === 0) return undefined;
  const caps = grants.flatMap(({ costCap }) => costCap ?? []);
  return caps.length < grants.length ? undefined : Math.max(...caps);
}
