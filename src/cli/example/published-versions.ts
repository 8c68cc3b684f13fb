import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { Fault } from "#core/fault.ts";
import { compareSemVer, parseSemVer } from "#core/semver-order.ts";
import { jsonOr } from "../api/api-failure.ts";
import { outputOf } from "../run-program.ts";

/** npm writes a list with one entry as the entry itself. */
const Versions = z.union([z.array(z.string()), z.string().transform((one) => [one])]);

/** The valid arguments of `npm view`, by https://docs.npmjs.com/cli/configuring-npm/package-json#name. */
const packageName = /^(@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/i;

interface WhichVersions {
  readonly count: number;
  readonly withPrereleases: boolean;
}

/**
 * Returns the newest versions of a package, oldest first, in semver's order, because dates in a registry are not
 * reliable.
 */
export async function publishedVersions(
  name: string,
  { count, withPrereleases }: WhichVersions,
): Promise<string[]> {
  if (!packageName.test(name)) {
    throw new Fault("invalid_argument", `"${name}" is not the name of an npm package`);
  }
  const printed = jsonOr(await outputOf("npm", ["view", name, "versions", "--json"]), undefined);
  const versions = Versions.parse(printed)
    .flatMap((text) => parseSemVer(text) ?? [])
    .filter(({ prerelease }) => withPrereleases || prerelease.length === 0)
    .toSorted(compareSemVer);
  if (versions.length === 0) {
    throw new Fault(
      "not_found",
      `${name} has no suitable published version${withPrereleases ? "" : "; try --prereleases"}`,
    );
  }
  return versions.slice(-count).map((version) => version.text);
}

/** Returns a version as it was published; npm checks its integrity. */
export async function downloadVersion(name: string, version: string): Promise<Uint8Array> {
  const dir = await mkdtemp(join(tmpdir(), "grange-example-"));
  try {
    await outputOf("npm", ["pack", `${name}@${version}`, "--pack-destination", dir, "--silent"], {
      cwd: dir,
    });
    const [file] = await readdir(dir);
    if (file === undefined)
      throw new Fault("internal", `npm pack ${name}@${version} created no file`);
    return await readFile(join(dir, file));
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
