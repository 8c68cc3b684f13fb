import { join } from "node:path";

type Variables = Readonly<Record<string, string | undefined>>;

/** Returns the directory of dune's cache; undefined without a home directory. */
export function duneDatabase(variables: Variables): string | undefined {
  const cache = set(variables["XDG_CACHE_HOME"]) ?? below(set(variables["HOME"]), ".cache");
  return below(cache, "dune/db");
}

/** Returns the path at which dune 2 looks for its daemon. dune itself doubles the folder name. */
export function daemonEndpointFile(variables: Variables): string | undefined {
  const runtime = set(variables["XDG_RUNTIME_DIR"]);
  if (runtime !== undefined) return join(runtime, "dune-cache-daemon/dune-cache-daemon/port");
  return below(duneDatabase(variables), "runtime/dune-cache-daemon/port");
}

/**
 * Returns the settings for the dune of a build.
 *
 * An endpoint file of the build's own, in its own runtime directory, separates its dune from others. Without one, dune
 * 2 reads its store itself, as dune 3 always does; both leave the other caches of the environment alone.
 */
export function duneSettings(
  variables: Variables,
  runtimeDirectory: string | undefined,
): Readonly<Record<string, string>> {
  // A user who disabled the cache has a reason.
  if (variables["DUNE_CACHE"] === "disabled") return {};
  if (runtimeDirectory === undefined) {
    return { DUNE_CACHE: "enabled", DUNE_CACHE_TRANSPORT: "direct" };
  }
  return {
    DUNE_CACHE: "enabled",
    DUNE_CACHE_TRANSPORT: "daemon",
    XDG_RUNTIME_DIR: runtimeDirectory,
  };
}

/** dune treats an empty variable as absent. */
function set(value: string | undefined): string | undefined {
  return value === undefined || value === "" ? undefined : value;
}

function below(folder: string | undefined, path: string): string | undefined {
  return folder === undefined ? undefined : join(folder, path);
}
