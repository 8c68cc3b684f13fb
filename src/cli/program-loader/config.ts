import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** What the environment says of code caches. */
export interface CodeCacheSettings {
  /** Whether there is to be none: what switches Node's own code cache off also switches this one off. */
  readonly isOff: boolean;
  /** The user's directory for caches; undefined if its variable has no absolute path. */
  readonly userCaches: string | undefined;
}

export function codeCacheSettings(
  env: Readonly<Record<string, string | undefined>> = process.env,
): CodeCacheSettings {
  const caches = env["XDG_CACHE_HOME"] || join(env["HOME"] || homedir(), ".cache");
  return {
    isOff: env["NODE_DISABLE_COMPILE_CACHE"] === "1",
    userCaches: isAbsolute(caches) ? caches : undefined,
  };
}
