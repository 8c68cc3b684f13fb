import { recentlyUsed } from "#core/recently-used.ts";
import type { Build } from "../builds/build.ts";
import type { Requester } from "../tiered-cache/tiered-cache.ts";

/** Records which builds execute at the farm. The farm has just made the results that such a tool then reads. */
interface RemoteExecutingBuilds {
  note(who: Requester): void;
  /** Returns the requester with the known facts about its execution. */
  known(who: Requester): Requester;
}

/**
 * A tool outside of any known build counts as executing remotely for this time after its last execution, because it
 * reads outputs at once or at its end.
 */
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
