import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "#core/fault.ts";
import { runNpm } from "./run-npm.ts";
import { unpackTarball } from "./unpack-tarball.ts";

interface WantedPackage {
  readonly npm: string;
  readonly version: string;
  /** `sha512-…`; when absent, the registry's own value applies. */
  readonly integrity?: string | undefined;
}

/** Downloads a published package, verifies its hash, and unpacks it into a folder. */
export async function getPackage(
  wanted: WantedPackage,
  folder: string,
  signal: AbortSignal,
): Promise<void> {
  const name = `${wanted.npm}@${wanted.version}`;
  const integrity = wanted.integrity ?? (await registryIntegrity(name, signal));
  // Beside the folder, where it is recognised as garbage if this process is killed.
  const place = await mkdtemp(`${folder}-`);
  try {
    await runNpm(["pack", name, "--pack-destination", place, "--ignore-scripts"], name, { signal });
    const [file] = await readdir(place);
    if (file === undefined)
      throw new Fault(
        "not_found",
        `npm pack ${name} created no file; the registry may not have the package`,
      );
    const bytes = await readFile(join(place, file));
    checkIntegrity(bytes, integrity, name);
    await unpackTarball(bytes, folder);
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

/** Undefined for packages from before registries stored it (2017); npm checks their older hash. */
async function registryIntegrity(name: string, signal: AbortSignal): Promise<string | undefined> {
  const text = (await runNpm(["view", name, "dist.integrity"], name, { signal })).trim();
  return /^"?(sha512-[A-Za-z0-9+/=]+)"?$/.exec(text)?.[1];
}

function checkIntegrity(bytes: Uint8Array, integrity: string | undefined, name: string): void {
  if (integrity === undefined) return;
  const found = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
  if (found === integrity) return;
  throw new Fault(
    "data_loss",
    `${name} has changed: its bytes have ${found}, but ${integrity} was expected. ` +
      "Do not use it before you know the reason. If the change is intended, write the new integrity into the suite",
  );
}
