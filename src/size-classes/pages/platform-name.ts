import type { Platform } from "#core/platform.ts";

/** Returns a platform as one line: `ISA=x86-64, OSFamily=linux`. */
export function platformName(platform: Platform): string {
  const names = Object.entries(platform)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${plain(name)}=${plain(value)}`);
  return names.length === 0 ? "any" : names.join(", ");
}

/** Quotes a text that could be read as several. */
function plain(text: string): string {
  return /^[^\s,="\\]+$/.test(text) ? text : JSON.stringify(text);
}
