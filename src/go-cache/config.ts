import { homedir } from "node:os";
import { join } from "node:path";

/** The variable with which `grange exec` names the granary's cache of a build. */
export const goCacheVariable = "GRANGE_GO_CACHE";

export interface GoCacheConfig {
  /** Where outputs are on this machine. */
  readonly directory: string;
  /** The address of the granary's cache; undefined outside of `grange exec`. */
  readonly granaryUrl: string | undefined;
  /** The caches that a job of the farm with `caches: true` may use; undefined elsewhere. */
  readonly jobCaches: { readonly url: string; readonly token: string | undefined } | undefined;
}

/** @param dataOption the directory that the command line names */
export function readGoCacheConfig(
  dataOption: string | undefined,
  env: Readonly<Record<string, string | undefined>> = process.env,
): GoCacheConfig {
  const caches = env["XDG_CACHE_HOME"] || join(env["HOME"] || homedir(), ".cache");
  return {
    directory: dataOption ?? (env["GRANGE_GO_DATA"] || join(caches, "grange", "go")),
    granaryUrl: env[goCacheVariable] || undefined,
    jobCaches: env["GRANGE_CACHES"]
      ? { url: env["GRANGE_CACHES"], token: env["GRANGE_JOB_TOKEN"] || undefined }
      : undefined,
  };
}
