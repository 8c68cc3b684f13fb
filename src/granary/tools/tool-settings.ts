import { mostSilenceMs } from "../tiered-cache/silence-budget.ts";

export type Variables = Readonly<Record<string, string | undefined>>;

export interface ToolSettingsSource {
  /** The granary's, on 127.0.0.1. */
  readonly port: number;
  /** Its process, where it is known: Bazel is connected to a granary only while there is one. */
  readonly pid?: number | undefined;
  readonly build: string;
  readonly project: string;
  /** The variables that the build would have without us. */
  readonly variables: Variables;
  /** Whether remote caches that the user has set already are replaced. */
  readonly replace?: boolean;
  /** For each tool whose own files name a remote cache: the file. */
  readonly setInFiles?: Readonly<Partial<Record<GuidedTool, string>>>;
  /** Whether a file of ccache's says how it identifies compilers. */
  readonly compilerCheckInFile?: boolean;
  /** The name of the build's environment; undefined: a granary of an older version did not say. */
  readonly environment?: string | undefined;
}

interface ToolSettings {
  /** To be set, beside all that the build has anyway. */
  readonly variables: Readonly<Record<string, string>>;
  /** Tools whose user settings are kept, for people: `ccache keeps CCACHE_REMOTE_STORAGE, which is set already`. */
  readonly leftAlone: readonly string[];
}

export type GuidedTool = "bazel" | "ccache" | "dune" | "gradle" | "nx" | "sccache" | "turborepo";

/** Signs that a user has a remote cache of another kind already. */
const signs: Readonly<Record<GuidedTool, readonly string[]>> = {
  bazel: [],
  ccache: ["CCACHE_REMOTE_STORAGE", "CCACHE_SECONDARY_STORAGE", "CCACHE_NOREMOTE_STORAGE"],
  dune: [],
  gradle: [],
  nx: ["NX_SELF_HOSTED_REMOTE_CACHE_SERVER", "NX_CLOUD_ACCESS_TOKEN", "NX_NO_REMOTE_CACHE"],
  sccache: [
    "SCCACHE_WEBDAV_ENDPOINT",
    "SCCACHE_BUCKET",
    "SCCACHE_REDIS",
    "SCCACHE_REDIS_ENDPOINT",
    "SCCACHE_REDIS_CLUSTER_ENDPOINTS",
    "SCCACHE_MEMCACHED",
    "SCCACHE_MEMCACHED_ENDPOINT",
    "SCCACHE_GCS_BUCKET",
    "SCCACHE_AZURE_CONNECTION_STRING",
    "SCCACHE_GHA_ENABLED",
    "SCCACHE_OSS_BUCKET",
    "SCCACHE_COS_BUCKET",
  ],
  // A token without an address is one for the service of Turborepo's makers.
  turborepo: ["TURBO_API", "TURBO_TOKEN"],
};

/**
 * A limit for silence, not for a whole transfer. ccache's own is 10 s, which a hanging granary would cost each
 * compilation. A working granary is silent only while it waits for the farm, and for no longer than this.
 */
const ccacheTimeoutMs = mostSilenceMs;

/** No token is required on this machine; these tools use no cache without one. */
const noToken = "none";

/** The variables that lead a build's tools to the granary, each under the build's own address. */
export function toolSettings(source: ToolSettingsSource): ToolSettings {
  const leftAlone: string[] = [];
  const variables: Record<string, string> = {};
  for (const tool of Object.keys(signs) as GuidedTool[]) {
    const kept = keptBy(tool, source);
    if (kept === undefined) Object.assign(variables, variablesOf(tool, source));
    else leftAlone.push(`${tool} keeps ${kept}`);
  }
  return { variables, leftAlone };
}

/** Returns which setting of the user a tool keeps; undefined when it is connected to the granary. */
export function keptBy(
  tool: GuidedTool,
  { variables, replace, setInFiles }: ToolSettingsSource,
): string | undefined {
  if (replace === true) return undefined;
  const sign = signs[tool].find((name) => isSet(variables[name]) && !isOurs(variables[name]));
  if (sign !== undefined) return `${sign}, which is set already`;
  const file = setInFiles?.[tool];
  return file === undefined ? undefined : `the remote cache that ${file} names`;
}

function variablesOf(
  tool: GuidedTool,
  source: ToolSettingsSource,
): Readonly<Record<string, string>> {
  const url = cacheUrl(tool, source);
  switch (tool) {
    case "ccache": {
      const storage = `${url}|operation-timeout=${ccacheTimeoutMs}`;
      return {
        CCACHE_REMOTE_STORAGE: storage,
        // Its name in 4.4 to 4.6.
        CCACHE_SECONDARY_STORAGE: storage,
        // Its usual check is a size and a time, which two compilers of images with one fixed date have in common.
        ...(hasCompilerCheck(source) ? {} : { CCACHE_COMPILERCHECK: "content" }),
      };
    }
    case "sccache":
      return {
        SCCACHE_WEBDAV_ENDPOINT: url,
        // A granary that is gone must not end the build.
        SCCACHE_IGNORE_SERVER_IO_ERROR: "1",
      };
    case "turborepo": {
      const { TURBO_TEAM: team, TURBO_TEAMID: id } = source.variables;
      return {
        TURBO_API: url,
        TURBO_TOKEN: noToken,
        // Teams do not see each other's artifacts: the user's own is kept.
        ...(isSet(team) || isSet(id) ? {} : { TURBO_TEAM: "grange" }),
      };
    }
    case "nx":
      return {
        NX_SELF_HOSTED_REMOTE_CACHE_SERVER: url,
        NX_SELF_HOSTED_REMOTE_CACHE_ACCESS_TOKEN: noToken,
      };
    case "dune":
      // Whether there is a cache at all is a wish, not an address.
      return isSet(source.variables["DUNE_CACHE"]) ? {} : { DUNE_CACHE: "enabled" };
    // By files: see `openToolSettings`.
    case "bazel":
    case "gradle":
      return {};
  }
}

function hasCompilerCheck({ variables, compilerCheckInFile }: ToolSettingsSource): boolean {
  return isSet(variables["CCACHE_COMPILERCHECK"]) || compilerCheckInFile === true;
}

/**
 * The URL of a tool's cache. sccache's server continues after the build with the same address, so that address names no
 * build; the granary then finds the project's current build, if there is one.
 */
export function cacheUrl(tool: GuidedTool, { port, build, project }: ToolSettingsSource): string {
  const ofBuild = tool === "sccache" ? "" : `/build/${build}`;
  return `http://127.0.0.1:${port}${ofBuild}/cache/${project}/${tool}`;
}

/** Set by a `grange exec` around this one: the build is ours now. */
function isOurs(value = ""): boolean {
  return value === noToken || /^http:\/\/127\.0\.0\.1:\d+\/(?:build\/[^/]+\/)?cache\//.test(value);
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== "";
}
