import type { Platform } from "#core/platform.ts";
import { printableLine } from "./terminal/printable-text.ts";

/** Returns a platform in one line, in the notation of options: `ISA=x86-64,OSFamily=linux`. */
export function platformText(platform: Platform): string {
  const pairs = Object.entries(platform).toSorted(([a], [b]) => (a < b ? -1 : 1));
  if (pairs.length === 0) return "any platform";
  return printableLine(pairs.map(([name, value]) => `${name}=${value}`).join(","));
}
