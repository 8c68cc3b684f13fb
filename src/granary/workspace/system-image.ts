import { readFile } from "node:fs/promises";

let known: Promise<string> | undefined;

/**
 * Returns the distribution and release that a Linux machine or image runs, as `debian 12`; "" when it cannot be read.
 */
export function systemImage(): Promise<string> {
  known ??= readFile("/etc/os-release", "utf8").then(imageIn, () => "");
  return known;
}

/** Point releases do not count: `VERSION_ID` has none, and compilers are identified by their content. */
export function imageIn(osRelease: string): string {
  const valueOf = (name: string) =>
    new RegExp(`^${name}=["']?([^"'\\n]*)`, "m").exec(osRelease)?.[1] ?? "";
  return `${valueOf("ID")} ${valueOf("VERSION_ID")}`.trim().slice(0, 200);
}
