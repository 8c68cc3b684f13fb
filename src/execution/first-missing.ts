import { type Platform, requirementsOf } from "#core/platform.ts";

/** A property that keeps all workers from a job, and the values of it that they have. */
interface MissingProperty {
  readonly property: string;
  readonly asked: string;
  readonly offered: readonly string[];
}

/**
 * Why none of the workers serves: the first property that nobody has as asked.
 *
 * Where each property is had by somebody but no worker has all, it is the first that the worker who has most of
 * them lacks. Undefined when there are no workers, or one of them serves.
 */
export function firstMissing(
  asked: Platform,
  offers: readonly Platform[],
): MissingProperty | undefined {
  const wanted = Object.entries(requirementsOf(asked)).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const lacks = (offer: Platform) => wanted.filter(([name, value]) => offer[name] !== value);
  const nobody = wanted.find(([name, value]) => offers.every((offer) => offer[name] !== value));
  const nearest = offers.toSorted((a, b) => lacks(a).length - lacks(b).length)[0];
  const found = offers.length === 0 ? undefined : (nobody ?? (nearest && lacks(nearest)[0]));
  if (found === undefined) return undefined;
  const [property, value] = found;
  const offered = new Set(offers.flatMap((offer) => offer[property] ?? []));
  return { property, asked: value, offered: [...offered].toSorted() };
}
