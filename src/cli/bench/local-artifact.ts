import { existsSync, readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import type { ArtifactCache, PlacedArtifact } from "#artifacts/artifact-cache.ts";
import type { Components } from "#artifacts/component.ts";
import { findArtifacts } from "#artifacts/find-artifacts.ts";
import type { Suite } from "#suites/suite.ts";
import { suitePattern } from "#suites/suite-pattern.ts";
import { UsageError } from "../usage-error.ts";

interface LocalArtifact {
  readonly tag: string;
  readonly components: Components;
}

/** Returns an artifact by its tag, from npm or Git; or a folder or tarball of this machine. */
export async function localArtifact(
  suite: Suite,
  named: string,
  {
    as,
    backends,
    signal,
  }: { as: string | undefined; backends: readonly string[]; signal: AbortSignal },
): Promise<LocalArtifact> {
  if (isPath(named)) {
    const path = resolve(named);
    if (!existsSync(path)) throw new UsageError(`there is no ${path}`);
    const backend = backendOf(suite, path, backends);
    return { tag: as ?? basename(path), components: { [backend]: { kind: "path", path } } };
  }
  const { tag, components } = (await findArtifacts(suite, { signal })).resolve(named);
  return { tag: as ?? tag, components };
}

/** A tag has no slash; an existing path is treated as a file. */
function isPath(named: string): boolean {
  return (
    named.includes("/") ||
    (/\.(tgz|tar\.gz|tar)$/.test(named) && existsSync(named)) ||
    named === "."
  );
}

/** Returns the backend of a folder: the named one, the only one, or the one with the folder's package. */
function backendOf(suite: Suite, path: string, requested: readonly string[]): string {
  const names = Object.keys(suite.backends);
  const [only, ...others] = requested.length > 0 ? requested : names;
  if (only !== undefined && others.length === 0) return only;
  const found = packageAt(path);
  const fitting = names.filter((name) =>
    suite.backends[name]?.packages.some(
      ({ npm, versions }) =>
        npm === found?.name &&
        (versions === undefined || suitePattern(versions).match(found.version) !== undefined),
    ),
  );
  const [backend] = fitting;
  if (backend !== undefined && fitting.length === 1) return backend;
  throw new UsageError(`name the backend of ${path}: --backend ${names.join(" or --backend ")}`);
}

function packageAt(path: string): { name: string; version: string } | undefined {
  try {
    const { name, version } = JSON.parse(readFileSync(join(path, "package.json"), "utf8"));
    return { name: `${name}`, version: `${version}` };
  } catch {
    return undefined;
  }
}

/** Places the artifacts of backends, each once. */
export class PlacedBackends {
  readonly #placed = new Map<string, Promise<PlacedArtifact>>();
  readonly #cache: ArtifactCache;
  readonly #suite: Suite;
  readonly #artifact: LocalArtifact;

  constructor(cache: ArtifactCache, suite: Suite, artifact: LocalArtifact) {
    this.#cache = cache;
    this.#suite = suite;
    this.#artifact = artifact;
  }

  of(backend: string, signal: AbortSignal): Promise<PlacedArtifact> {
    const known = this.#placed.get(backend);
    if (known !== undefined) return known;
    const component = this.#artifact.components[backend];
    if (component === undefined) {
      throw new UsageError(`${this.#artifact.tag} has no backend ${backend}`);
    }
    const placing = this.#cache.place(this.#suite, backend, component, signal);
    this.#placed.set(backend, placing);
    return placing;
  }

  async release(): Promise<void> {
    for (const placed of this.#placed.values()) {
      await placed.then((each) => this.#cache.release(each)).catch(() => {});
    }
  }
}
