import type { BuildRegistry } from "../builds/build.ts";
import type { Requester } from "../tiered-cache/tiered-cache.ts";

/** Before the path of a cache: `/build/ID/cache/PROJECT/TOOL/…`. */
const buildPath = /^\/build\/([A-Za-z0-9-]{1,64})(\/.*)$/;

interface BuildUrl {
  /** The address without a build. */
  readonly url: string;
  readonly build: string | undefined;
}

export function parseBuildUrl(url: string): BuildUrl {
  const [, build, rest] = buildPath.exec(url) ?? [];
  return rest === undefined ? { url, build: undefined } : { url: rest, build };
}

/** Returns the requester. A build of another project does not count: its requests there are not part of its index. */
export function identifyRequester(
  builds: BuildRegistry,
  project: string,
  id: string | undefined,
): Requester {
  const build = id === undefined ? builds.only(project) : builds.find(id);
  return { project, build: build?.project === project ? build : undefined };
}
