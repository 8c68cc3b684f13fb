import { isolationOfProperty } from "#core/isolation-level.ts";
import { imagesOffer, serves } from "#core/platform.ts";
import { firstMissing } from "../first-missing.ts";
import type { QueuedKind, SeenOffer } from "../submitting/queued-kinds.store.ts";
import { blockingReservation } from "./blocking-reservation.ts";
import { greatestSizeClass, isServedBy } from "./is-served-by.ts";

/** Returns why no worker could run an execution with these requirements; undefined when one could. */
export function whyUnserved(
  { requirements, sizeClass }: QueuedKind,
  offers: readonly SeenOffer[],
): string | undefined {
  const able = offers.filter(({ platform }) => serves(platform, requirements));
  if (able.some((offer) => isServedBy({ requirements, sizeClass }, offer))) return undefined;
  const most = Number(requirements[greatestSizeClass] ?? Infinity);
  if (able.length > 0 && most < Infinity) {
    const named = shortened([...new Set(able.map((offer) => String(offer.sizeClass)))]);
    const sizeText =
      most === sizeClass ? `size class ${most}` : `a size class of ${sizeClass} to ${most}`;
    return `it asks for ${sizeText}, but suitable workers have size class ${named}; start a worker of size class ${most}, or ask for another size class`;
  }
  if (able.length > 0) {
    const greatest = Math.max(...able.map((offer) => offer.sizeClass));
    return `it asks for size class ${sizeClass} or more, but suitable workers have at most size class ${greatest}; start a worker of size class ${sizeClass}, or ask for a smaller one`;
  }
  const platforms = offers.map(({ platform }) => platform);
  const fenced = blockingReservation(requirements, platforms);
  if (fenced.length > 0)
    return `suitable workers accept only actions that ask for ${shortened(fenced)}; ask for it, or start a worker without --only-for`;
  const missing = firstMissing(requirements, platforms);
  if (missing === undefined) return "no worker is connected; start one: grange worker";
  const { property, asked, offered } = missing;
  const isolation = isolationOfProperty(property);
  if (isolation !== undefined)
    return `it requires the isolation ${isolation}, and no worker that could run it has it; \`grange workers\` lists under "not stopped" what each lacks`;
  if (property === imagesOffer)
    return "it needs container images, and no worker that could run it runs them; list their registries with `grange worker --registries` or GRANGE_WORKER_REGISTRIES; `grange doctor` says why a worker runs no images";
  const instead =
    offered.length === 0
      ? `no worker offers ${property}`
      : offered.includes(asked)
        ? "workers with it lack another requested property"
        : `workers offer ${property}=${shortened(offered)}`;
  return `it asks for ${property}=${asked}, and ${instead}; start a worker that offers ${property}=${asked}, or change what the action asks for`;
}

const mostNamed = 10;

function shortened(values: readonly string[]): string {
  const more = values.length - mostNamed;
  const named = values.slice(0, mostNamed).join(", ");
  return more > 0 ? `${named} and ${more} more` : named;
}
