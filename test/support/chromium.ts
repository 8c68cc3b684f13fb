import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium } from "playwright-core";
import type { Need } from "./needs/needs.ts";
import { findProgram } from "./needs/program.ts";

interface Executable {
  readonly path: string;
  /** Additional environment variables for the browser. */
  readonly env: Readonly<Record<string, string>>;
}

/** The browser of `CHROME_PATH`, otherwise the system's, otherwise the one that `npm test` installed from npm. */
const executable = fromEnvironment() ?? fromSystem() ?? fromNpm();

export const browserNeed: Need = {
  name: "a browser",
  missing: executable === undefined ? "no Chromium is installed" : undefined,
  remedy: { kind: "debian", packages: ["chromium"] },
};

/** Starts Chromium without its background requests, with further arguments. Throws if there is no browser. */
export function launchChromium(further: readonly string[] = []): Promise<Browser> {
  if (executable === undefined) {
    throw new Error("No Chromium is installed: apt-get install chromium, or set CHROME_PATH");
  }
  return chromium.launch({
    executablePath: executable.path,
    env: { ...process.env, ...executable.env },
    args: [
      "--headless",
      // Tests and measurements may run as root, which Chromium's own sandbox does not support.
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      ...further,
    ],
  });
}

function fromEnvironment(): Executable | undefined {
  const path = process.env["CHROME_PATH"];
  return path === undefined ? undefined : { path, env: {} };
}

function fromSystem(): Executable | undefined {
  const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
  const path = names.map(findProgram).find((found) => found !== undefined);
  return path === undefined ? undefined : { path, env: {} };
}

/** `scripts/install-test-packages.mjs` unpacks it there, with the libraries that a bare machine lacks. */
function fromNpm(): Executable | undefined {
  const folder = join(import.meta.dirname, "browser/node_modules/.unpacked");
  const path = join(folder, "chromium");
  if (!existsSync(path)) return undefined;
  const env = { LD_LIBRARY_PATH: join(folder, "lib"), FONTCONFIG_FILE: join(folder, "fonts.conf") };
  return { path, env };
}
