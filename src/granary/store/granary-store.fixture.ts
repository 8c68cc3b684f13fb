import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { onTestFinished } from "vitest";
import { digestOf } from "#cas/digest-of.ts";
import type { Namespace } from "#commit-index/result-key.ts";
import type { GranaryResult } from "../granary-result.ts";
import {
  type GranaryStoreOptions,
  type OpenGranaryStore,
  openGranaryStore,
} from "./open-granary-store.ts";

export const silentLogger = pino({ level: "silent" });

export async function freshDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "grange-granary-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

export async function openStore(
  options: Partial<GranaryStoreOptions> & { readonly directory: string },
): Promise<OpenGranaryStore> {
  const store = await openGranaryStore({
    limitBytes: 1024 ** 3,
    logger: silentLogger,
    ...options,
  });
  onTestFinished(() => store.stop());
  return store;
}

export async function freshStore(
  options: Partial<GranaryStoreOptions> = {},
): Promise<{ readonly store: OpenGranaryStore; readonly directory: string }> {
  const directory = await freshDirectory();
  return { store: await openStore({ directory, ...options }), directory };
}

/** Returns a result whose value and blobs are these texts. */
export function resultOf(
  key: string,
  texts: readonly [string, ...string[]],
  namespace: Namespace = "ccache",
): GranaryResult {
  const [value, ...blobs] = texts.map((text) => digestOf(Buffer.from(text)));
  if (value === undefined) throw new Error("a result has a value");
  return { project: "p", namespace, key, value, blobs, attributes: {}, costMs: undefined };
}

/** Stores it as a build does: its blobs first. */
export async function keepResult(
  store: OpenGranaryStore,
  key: string,
  texts: readonly [string, ...string[]],
): Promise<GranaryResult> {
  for (const text of texts) {
    const bytes = Buffer.from(text);
    await store.blobs.put(digestOf(bytes), bytes);
  }
  const result = resultOf(key, texts);
  await store.keep(result);
  return result;
}

/**
 * Overwrites the bytes between two bytes of that text in the store's packs, without changing their length; returns
 * whether the text was found.
 */
export function corruptInPacks(
  directory: string,
  text: string,
  into: (text: string) => string,
): boolean {
  let isThere = false;
  const packs = join(directory, "packs");
  for (const name of readdirSync(packs)) {
    if (!name.endsWith(".pack")) continue;
    const bytes = readFileSync(join(packs, name));
    const wanted = Buffer.from(text);
    for (let at = bytes.indexOf(wanted); at >= 0; at = bytes.indexOf(wanted, at + 1)) {
      bytes.write(into(text), at);
      isThere = true;
    }
    // Written in place, because the store has the file open.
    if (isThere) writeFileSync(join(packs, name), bytes, { flag: "r+" });
  }
  return isThere;
}
