import { recentlyUsed } from "#core/recently-used.ts";
import type { Build } from "../builds/build.ts";
import type { Requester } from "../tiered-cache/tiered-cache.ts";

/** Who has the farm execute. What such a tool then reads, the farm has just made for it. */
export interface RemoteExecutingBuilds {
  note(who: Requester): void;
  /** The same, with what is known of that. */
  known(who: Requester): Requester;
}

/** A tool that runs in no build of ours is taken for one that executes so long after it did: outputs are read at once, or at its end. */
const rememberedMs = 10 * 60_000;
const mostProjects = 100;

export function remoteExecutingBuilds(
  now: () => number = () => performance.now(),
): RemoteExecutingBuilds {
  const builds = new WeakSet<Build>();
  const projects = recentlyUsed<number>(mostProjects);
  const executes = ({ project, build }: Requester) =>
    build === undefined
      ? now() - (projects.peek(project) ?? Number.NEGATIVE_INFINITY) < rememberedMs
      : builds.has(build);
  return {
    note({ project, build }) {
      if (build === undefined) projects.set(project, now());
      else builds.add(build);
    },
    known: (who) => (executes(who) ? { ...who, madeAtFarm: true } : who),
  };
}
