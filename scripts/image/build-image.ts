import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { promisify } from "node:util";
import type { AllowedRegistry, RegistryCredentials } from "#images/registry-settings.ts";
import { addBaseImage } from "./base-image.ts";
import { dataPlace, grangeFiles, packagePlace } from "./grange-files.ts";
import { imageUser } from "./image-entry.ts";
import { machineFiles } from "./machine-files.ts";
import { type Descriptor, OciLayout } from "./oci-layout.ts";

const run = promisify(execFile);

interface ImageSettings {
  /** A checkout of Grange whose `dist/` is built. */
  readonly checkout: string;
  /** The directory of the layout, which is made. */
  readonly directory: string;
  /** The name of the image, such as `ghcr.io/me/grange:0.1.0`. */
  readonly name: string;
  /** An image with Node and Git, named with its digest; undefined: the programs of this machine. */
  readonly base: string | undefined;
  /** Further programs of this machine. */
  readonly programs: readonly string[];
  readonly registries: readonly AllowedRegistry[];
  readonly credentials: RegistryCredentials;
}

export interface BuiltImage {
  readonly layout: OciLayout;
  readonly manifest: Descriptor;
  /** Layers and configuration. */
  readonly blobs: readonly Descriptor[];
  readonly created: Date;
}

/**
 * Builds an image of Grange in the layout of the OCI image specification: a base, and one layer with the package.
 *
 * The same checkout, base and version of Node give the same bytes.
 */
export async function buildImage(settings: ImageSettings): Promise<BuiltImage> {
  await mkdir(settings.directory);
  const layout = await OciLayout.create(settings.directory);
  const created = await timeOf(settings.checkout);
  const base =
    settings.base === undefined
      ? {
          layers: [await layout.addLayer(await machineFiles(settings.programs), created)],
          environment: [["PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"] as const],
        }
      : await addBaseImage(layout, settings.base, settings.registries, settings.credentials);
  const { entries, version } = await grangeFiles(settings.checkout);
  const layers = [...base.layers, await layout.addLayer(entries, created)];
  const environment = new Map([
    ...base.environment,
    ["HOME", `/${dataPlace}`],
    ["GRANGE_HOST", "0.0.0.0"],
    ["GRANGE_DATA", `/${dataPlace}/server`],
    ["GRANGE_WORKER_DATA", `/${dataPlace}/worker`],
  ]);
  const { manifest, config } = await layout.finish(
    layers,
    {
      User: `${imageUser}:${imageUser}`,
      WorkingDir: `/${dataPlace}`,
      Env: [...environment].map(([name, value]) => `${name}=${value}`),
      Entrypoint: ["node", `/${packagePlace}/bin/grange.mjs`],
      Cmd: ["server"],
      ExposedPorts: { "8980/tcp": {} },
      Labels: {
        "org.opencontainers.image.title": "grange",
        "org.opencontainers.image.version": version,
        "org.opencontainers.image.licenses": "Apache-2.0",
      },
    },
    { name: settings.name, created },
  );
  return { layout, manifest, blobs: [...layers, config], created };
}

/** Returns the time of the checkout's commit, or that of `SOURCE_DATE_EPOCH` (s): equal sources give equal times. */
async function timeOf(checkout: string): Promise<Date> {
  const given = process.env["SOURCE_DATE_EPOCH"];
  if (given !== undefined && /^\d+$/.test(given)) return new Date(Number(given) * 1_000);
  const lastCommit = await run("git", ["-C", checkout, "log", "-1", "--format=%ct"]).catch(() => ({
    stdout: "0",
  }));
  return new Date(Number(lastCommit.stdout.trim()) * 1_000);
}
