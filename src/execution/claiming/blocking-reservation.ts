import { fenceAround, offersAll, type Platform } from "#core/platform.ts";

/**
 * Returns the properties, as `NAME=VALUE`, that an action would have to require so that a worker that could run it
 * takes it. Empty when no worker has such a condition.
 */
export function blockingReservation(required: Platform, offers: readonly Platform[]): string[] {
  const wanted = offers
    .filter((offer) => offersAll(offer, required))
    .flatMap((offer) => fenceAround(offer, required).map((name) => `${name}=${offer[name] ?? ""}`));
  return [...new Set(wanted)].toSorted();
}
