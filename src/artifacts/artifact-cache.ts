import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { canonicalJson } from "#core/canonical-json.ts";
import { Fault, messageOf } from "#core/fault.ts";
import type { PrivateHosts } from "#outgoing/allowed-address.ts";
import type { PinnedPackage, Suite } from "#suites/suite.ts";
import { type HeldFolder, openCacheFolder } from "./cache-folder.ts";
import { checkOutCommit, type WantedCommit } from "./check-out-commit.ts";
import type { Component } from "./component.ts";
import { getPackage } from "./get-package.ts";
import { toolOf } from "./tool-of.ts";
import { unpackTarball } from "./unpack-tarball.ts";

/** A folder in the cache. It is read-only. */
export interface PlacedFolder {
  readonly directory: string;
}

/** An artifact's component in a folder of this machine. It stays until it is released. */
export interface PlacedArtifact extends PlacedFolder {
  /** The backend's command, with its placeholders filled. */
  readonly tool: readonly string[];
  /** The backend's environment, with its placeholders filled. */
  readonly env: Readonly<Record<string, string>>;
}

/** Components and sources, fetched once and kept within a size limit. Several processes may share its folder. */
export interface ArtifactCache {
  /**
   * `unavailable` and `deadline_exceeded` may be temporary; `not_found`, `data_loss`, `invalid_argument` and
   * `failed_precondition` are permanent.
   */
  place(
    suite: Suite,
    backend: string,
    component: Component,
    signal: AbortSignal,
  ): Promise<PlacedArtifact>;
  /** A benchmark's source or dependency: a pinned package, or a commit of a repository. */
  placeSource(
    source: PinnedPackage | { readonly git: string; readonly commit: string },
    signal: AbortSignal,
  ): Promise<PlacedFolder>;
  release(placed: PlacedFolder): Promise<void>;
}

export interface CacheOptions {
  readonly directory: string;
  readonly limitBytes: number;
  /** The private addresses that Git may contact; any when absent. */
  readonly privateHosts?: PrivateHosts | undefined;
  /** Fetches a blob from the farm's store, by `HASH/SIZE`. */
  readonly fetchBlob?: (digest: string, signal: AbortSignal) => AsyncIterable<Uint8Array>;
}

/** The wanted content, and how to make it. Equal keys mean equal folders. */
interface Wanted {
  readonly key: unknown;
  readonly make: (folder: string) => Promise<void>;
}

/** Larger than a packed toolchain; the tarball is in memory while it is unpacked. */
const mostTarballBytes = 512 * 2 ** 20;

export async function openArtifactCache({
  directory,
  limitBytes,
  fetchBlob,
  privateHosts,
}: CacheOptions): Promise<ArtifactCache> {
  const folder = await openCacheFolder(directory, limitBytes);
  const held = new Map<PlacedFolder, HeldFolder>();
  const commitWanted = (wanted: WantedCommit, signal: AbortSignal): Wanted => ({
    key: { commit: wanted.commit, build: wanted.build },
    make: (into) => checkOutCommit({ ...wanted, privateHosts }, into, signal),
  });
  const wantedOf = async (
    suite: Suite,
    component: Component,
    signal: AbortSignal,
  ): Promise<Wanted> => {
    switch (component.kind) {
      case "npm":
        return packageWanted({ npm: component.package, ...component }, signal);
      case "git": {
        const build = suite.artifacts.from === "git" ? suite.artifacts.build : [];
        return commitWanted({ ...component, build }, signal);
      }
      case "blob":
        return {
          key: { blob: component.digest },
          make: async (into) =>
            unpackTarball(await blobOf(component.digest, fetchBlob, signal), into),
        };
      case "path":
        return pathWanted(component.path);
    }
  };

  const hold = async <T extends PlacedFolder>(
    { key, make }: Wanted,
    signal: AbortSignal,
    placedAt: (directory: string) => T,
  ): Promise<T> => {
    const name = createHash("sha256").update(canonicalJson(key)).digest("hex");
    const found = await folder.hold(name, make, signal);
    try {
      const placed = placedAt(found.directory);
      held.set(placed, found);
      return placed;
    } catch (reason) {
      await found.letGo();
      throw reason;
    }
  };

  return {
    async place(suite, backend, component, signal) {
      const placedAt = (at: string) => ({
        directory: at,
        ...toolOf(suite, backend, component, at),
      });
      if (component.kind === "path" && (await isFolder(component.path)))
        return placedAt(component.path);
      return hold(await wantedOf(suite, component, signal), signal, placedAt);
    },

    placeSource: (source, signal) =>
      hold(
        "npm" in source
          ? packageWanted(source, signal)
          : commitWanted({ repository: source.git, commit: source.commit, build: [] }, signal),
        signal,
        (at) => ({ directory: at }),
      ),

    async release(placed) {
      const found = held.get(placed);
      held.delete(placed);
      await found?.letGo();
    },
  };
}

async function pathWanted(path: string): Promise<Wanted> {
  const bytes = await readFile(path).catch((cause: unknown) => {
    throw new Fault("not_found", `the artifact cannot be read: ${messageOf(cause)}`, { cause });
  });
  return {
    key: { sha256: createHash("sha256").update(bytes).digest("hex") },
    make: (folder) => unpackTarball(bytes, folder),
  };
}

/** The key for a package with its integrity: a package that was fetched for one hash must not be used for another. */
function packageWanted(
  { npm, version, integrity }: { npm: string; version: string; integrity?: string | undefined },
  signal: AbortSignal,
): Wanted {
  return {
    key: { npm, version, integrity },
    make: (folder) => getPackage({ npm, version, integrity }, folder, signal),
  };
}

async function blobOf(
  digest: string,
  fetchBlob: CacheOptions["fetchBlob"],
  signal: AbortSignal,
): Promise<Uint8Array> {
  if (fetchBlob === undefined)
    throw new Fault(
      "failed_precondition",
      "the artifact names a blob in the store of a farm, but this command uses no farm",
    );
  const [hash, size] = digest.split("/");
  if (Number(size) > mostTarballBytes)
    throw new Fault(
      "invalid_argument",
      `a tarball of ${size} bytes is too large; the limit is ${mostTarballBytes} bytes`,
    );
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of fetchBlob(digest, signal)) {
    parts.push(part);
    bytes += part.byteLength;
    if (bytes > Number(size)) break;
  }
  const whole = Buffer.concat(parts);
  const found = createHash("sha256").update(whole).digest("hex");
  if (found === hash && whole.byteLength === Number(size)) return whole;
  throw new Fault(
    "data_loss",
    `the tarball ${digest} has changed: its bytes have ${found}/${bytes}`,
  );
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
