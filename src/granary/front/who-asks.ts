import type { BuildDesk } from "../builds/build.ts";
import type { ForWhom } from "../supplies/supplies.ts";

/** Before the path of a cache: `/build/ID/cache/PROJECT/TOOL/…`. */
const buildPath = /^\/build\/([A-Za-z0-9-]{1,64})(\/.*)$/;

export interface AskedOf {
  /** As it would be without a build. */
  readonly url: string;
  readonly build: string | undefined;
}

export function askedOf(url: string): AskedOf {
  const [, build, rest] = buildPath.exec(url) ?? [];
  return rest === undefined ? { url, build: undefined } : { url: rest, build };
}

/** For whom a request is. A build of another project is not: what it asks for there is no part of its index. */
export function whoAsks(desk: BuildDesk, project: string, id: string | undefined): ForWhom {
  const build = id === undefined ? desk.only(project) : desk.find(id);
  return { project, build: build?.project === project ? build : undefined };
}
