import { Fault } from "#core/fault.ts";
import type { Platform } from "#core/platform.ts";

/** The size classes that an action may run on. */
export interface RequestedSizeClasses {
  readonly least: number;
  /** Undefined: no limit. */
  readonly most: number | undefined;
}

const greatest = 1_000_000;

/**
 * Returns what the properties `size-class`, `min-size-class` and `max-size-class` request.
 *
 * Throws `invalid_argument` for an invalid size class and for an empty range.
 */
export function requestedSizeClasses(platform: Platform): RequestedSizeClasses {
  const pinned = sizeClassIn(platform, "size-class");
  const min = sizeClassIn(platform, "min-size-class");
  const max = sizeClassIn(platform, "max-size-class");
  const least = pinned ?? min ?? 1;
  const most = pinned ?? max;
  const isOutside = pinned !== undefined && (pinned < (min ?? pinned) || pinned > (max ?? pinned));
  if (isOutside || (most !== undefined && most < least)) {
    throw new Fault(
      "invalid_argument",
      `no size class is asked for: ${said(platform)} exclude each other`,
    );
  }
  return { least, most };
}

function said(platform: Platform): string {
  return ["size-class", "min-size-class", "max-size-class"]
    .flatMap((name) => (platform[name] === undefined ? [] : [`${name}=${platform[name]}`]))
    .join(", ");
}

function sizeClassIn(platform: Platform, property: string): number | undefined {
  const value = platform[property];
  if (value === undefined) return undefined;
  const sizeClass = Number(value);
  if (/^\d+$/.test(value) && sizeClass >= 1 && sizeClass <= greatest) return sizeClass;
  throw new Fault(
    "invalid_argument",
    `${property} is a positive integer, ${greatest} at most, not ${JSON.stringify(value.slice(0, 40))}`,
  );
}
