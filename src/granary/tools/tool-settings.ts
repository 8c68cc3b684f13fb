import { goCacheVariable } from "#go-cache/config.ts";
import { mostSilenceMs } from "../tiered-cache/silence-budget.ts";

export type Variables = Readonly<Record<string, string | undefined>>;

export interface ToolSettingsSource {
  /** The port of the granary on 127.0.0.1. */
  readonly port: number;
  /**
   * The process ID of the granary, if known: Bazel is connected to a granary only while this
   * process exists.
   */
  readonly pid?: number | undefined;
  readonly build: string;
  readonly project: string;
  /** The variables that the build would have without Grange. */
  readonly variables: Variables;
  /** Whether remote caches that the user has already set are replaced. */
  readonly replace?: boolean;
  /** For each tool whose own files name a remote cache: the file. */
  readonly setInFiles?: Readonly<Partial<Record<GuidedTool, string>>>;
  /** The words that start `grange`, for tools that start a program of Grange; absent: these tools are not connected. */
  readonly program?: readonly string[];
  /** Whether a file of ccache sets how it identifies compilers. */
  readonly compilerCheckInFile?: boolean;
  /**
   * The name of the build's environment; undefined for a granary of an older version, which does
   * not send it.
   */
  readonly environment?: string | undefined;
}

interface ToolSettings {
  /** The variables to set in addition to the build's other variables. */
  readonly variables: Readonly<Record<string, string>>;
  /** Tools whose user settings are kept, for people: `ccache keeps CCACHE_REMOTE_STORAGE, which is set already`. */
  readonly leftAlone: readonly string[];
}

export type GuidedTool =
  | "bazel"
  | "ccache"
  | "dune"
  | "gocache"
  | "gradle"
  | "nx"
  | "sccache"
  | "turborepo";

/** Variables that show that the user already has another remote cache. */
const signs: Readonly<Record<GuidedTool, readonly string[]>> = {
  bazel: [],
  ccache: ["CCACHE_REMOTE_STORAGE", "CCACHE_SECONDARY_STORAGE", "CCACHE_NOREMOTE_STORAGE"],
  dune: [],
  gocache: ["GOCACHEPROG"],
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
  // A token without an address belongs to the service of Turborepo's makers.
  turborepo: ["TURBO_API", "TURBO_TOKEN"],
};

/**
 * The limit for a time without data, not for a whole transfer. ccache's own is 10 s, which each compilation would lose
 * with a granary that does not answer. A working granary sends no data only while it waits for the farm, and for no
 * longer than this.
 */
const ccacheTimeoutMs = mostSilenceMs;

/** No token is required on this machine, but these tools use no cache without one. */
const noToken = "none";

/**
 * Returns the variables that connect a build's tools to the granary, each under the build's own
 * address.
 */
export function toolSettings(source: ToolSettingsSource): ToolSettings {
  const leftAlone: string[] = [];
  const variables: Record<string, string> = {};
  for (const tool of Object.keys(signs) as GuidedTool[]) {
    const kept = keptBy(tool, source);
    if (kept === undefined) Object.assign(variables, variablesOf(tool, source));
    else leftAlone.push(`${tool} still has ${kept}`);
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
        // The name of this variable in ccache 4.4 to 4.6.
        CCACHE_SECONDARY_STORAGE: storage,
        // ccache's default check uses size and time, which can be equal for two compilers of images with one fixed
        // date.
        ...(hasCompilerCheck(source) ? {} : { CCACHE_COMPILERCHECK: "content" }),
      };
    }
    case "sccache":
      return {
        SCCACHE_WEBDAV_ENDPOINT: url,
        // A granary that has ended must not end the build.
        SCCACHE_IGNORE_SERVER_IO_ERROR: "1",
      };
    case "turborepo": {
      const { TURBO_TEAM: team, TURBO_TEAMID: id } = source.variables;
      return {
        TURBO_API: url,
        TURBO_TOKEN: noToken,
        // Teams do not see each other's artifacts, so the user's own team is kept.
        ...(isSet(team) || isSet(id) ? {} : { TURBO_TEAM: "grange" }),
      };
    }
    case "nx":
      return {
        NX_SELF_HOSTED_REMOTE_CACHE_SERVER: url,
        NX_SELF_HOSTED_REMOTE_CACHE_ACCESS_TOKEN: noToken,
      };
    case "gocache":
      if (source.program === undefined) return {};
      return {
        GOCACHEPROG: [...source.program, "gocacheprog"].map(goWord).join(" "),
        [goCacheVariable]: url,
      };
    case "dune":
      // This variable only turns the cache on, so a value of the user is kept.
      return isSet(source.variables["DUNE_CACHE"]) ? {} : { DUNE_CACHE: "enabled" };
    // Bazel and Gradle are connected by files: see `openToolSettings`.
    case "bazel":
    case "gradle":
      return {};
  }
}

function hasCompilerCheck({ variables, compilerCheckInFile }: ToolSettingsSource): boolean {
  return isSet(variables["CCACHE_COMPILERCHECK"]) || compilerCheckInFile === true;
}

/**
 * Returns the URL of a tool's cache. sccache's server continues after the build with the same address, so its address
 * names no build; the granary then uses the project's current build, if there is one.
 */
export function cacheUrl(tool: GuidedTool, { port, build, project }: ToolSettingsSource): string {
  const ofBuild = tool === "sccache" ? "" : `/build/${build}`;
  return `http://127.0.0.1:${port}${ofBuild}/cache/${project}/${tool}`;
}

/** A `grange exec` around this one set the value; the build now belongs to this one. */
function isOurs(value = ""): boolean {
  return (
    value === noToken ||
    value.endsWith(" gocacheprog") ||
    /^http:\/\/127\.0\.0\.1:\d+\/(?:build\/[^/]+\/)?cache\//.test(value)
  );
}

/** Go splits the value at spaces, and knows quotes and no escapes. */
function goWord(word: string): string {
  if (!/[\s"']/.test(word)) return word;
  return word.includes("'") ? `"${word}"` : `'${word}'`;
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== "";
}
