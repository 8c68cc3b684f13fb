import { z } from "zod";
import { Fault } from "#core/fault.ts";
import type { PublishedPackage } from "./known-artifacts.ts";
import { type NpmOptions, runNpm } from "./run-npm.ts";

/** For a list with one item, npm writes only the item. */
const Versions = z.union([z.array(z.string()), z.string().transform((one) => [one])]);
const View = z.object({ versions: Versions, time: z.record(z.string(), z.string()).default({}) });

/** Queries the registry that npm is configured for. It does not guarantee that a version can be downloaded. */
export async function listVersions(
  name: string,
  options: NpmOptions = {},
): Promise<PublishedPackage> {
  const text = await runNpm(["view", name, "versions", "time"], name, {
    timeoutMs: 120_000,
    ...options,
  });
  const read = View.safeParse(jsonOrNothing(text));
  if (!read.success) throw new Fault("unavailable", `npm did not answer with versions of ${name}`);
  return { package: name, ...read.data };
}

function jsonOrNothing(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
