import { fenceAround, offersAll, type Platform } from "#core/platform.ts";

/** The properties, as `NAME=VALUE`, that workers who could run something want to be asked for; none where no fence is in the way. */
export function fenceInTheWay(asked: Platform, offers: readonly Platform[]): string[] {
  const wanted = offers
    .filter((offer) => offersAll(offer, asked))
    .flatMap((offer) => fenceAround(offer, asked).map((name) => `${name}=${offer[name] ?? ""}`));
  return [...new Set(wanted)].toSorted();
}
