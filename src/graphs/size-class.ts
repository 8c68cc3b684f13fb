import type { Platform } from "#core/platform.ts";

/** The smallest size class of workers that may run what asks for a platform. */
export function sizeClassOf(platform: Platform): number {
  return Math.max(1, Number.parseInt(platform["min-size-class"] ?? "1", 10) || 1);
}
