import { type Platform, requirementsOf } from "#core/platform.ts";

/** A required property that no worker offers, and the offered values. */
interface MissingProperty {
  readonly property: string;
  readonly asked: string;
  readonly offered: readonly string[];
}

/**
 * Returns why no worker serves the requirements: the first property that no worker offers.
 *
 * When each property is offered by some worker but no worker offers all, returns the first one that the best worker
 * lacks. Undefined when there are no workers, or one serves.
 */
export function firstMissing(
  required: Platform,
  offers: readonly Platform[],
): MissingProperty | undefined {
  const wanted = Object.entries(requirementsOf(required)).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const lacks = (offer: Platform) => wanted.filter(([name, value]) => offer[name] !== value);
  const nobody = wanted.find(([name, value]) => offers.every((offer) => offer[name] !== value));
  const nearest = offers.toSorted((a, b) => lacks(a).length - lacks(b).length)[0];
  const found = offers.length === 0 ? undefined : (nobody ?? (nearest && lacks(nearest)[0]));
  if (found === undefined) return undefined;
  const [property, value] = found;
  const offered = new Set(offers.flatMap((offer) => offer[property] ?? []));
  return { property, asked: value, offered: [...offered].toSorted() };
}
