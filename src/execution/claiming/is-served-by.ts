import { type Platform, serves } from "#core/platform.ts";

/** The property under which stored requirements bound the size class from above. No worker offers it. */
export const greatestSizeClass = "max-size-class";

/** Stored requirements, apart from the least size class, which has its own column. */
interface StoredKind {
  readonly requirements: Platform;
  readonly sizeClass: number;
}

/** Returns whether a worker with this offer could run an execution with these requirements. */
export function isServedBy(
  { requirements, sizeClass }: StoredKind,
  offer: { readonly platform: Platform; readonly sizeClass: number },
): boolean {
  const most = Number(requirements[greatestSizeClass] ?? Infinity);
  return (
    offer.sizeClass >= sizeClass && offer.sizeClass <= most && serves(offer.platform, requirements)
  );
}
