import type { Clock } from "#core/clock.ts";
import { defaultProject } from "#core/default-project.ts";
import { Fault } from "#core/fault.ts";
import type { Db } from "#db/db.ts";
import { type Principal, wholeFarm } from "../principal.ts";
import { mayDo } from "../require-grant.ts";
import { addBegun, countBegunBy, isBegun, lockBeginner } from "./begun-project.store.ts";

/** Limits how many projects each principal may begin, because the farm supports only a small number. */
export interface ProjectShare {
  /**
   * Records that a principal is about to write into a project, if the project is new.
   *
   * @throws Fault `resource_exhausted` when the principal has begun as many projects as allowed
   */
  begin(by: Principal, project: string): Promise<void>;
}

/** How long a project is assumed to exist without a database query, in ms: an operator may remove it. */
const knownForMs = 60_000;

/** An eighth of the projects that a farm has at most, so that one principal cannot use up all of them. */
export const defaultProjectsEach = 32;

/** Administrators have no limit, because they may also remove projects. */
export function openProjectShare(parts: {
  readonly db: Db;
  readonly clock: Clock;
  /** Whether a project has blobs already; projects of earlier versions are in no table. */
  readonly isThere: (project: string) => Promise<boolean>;
  readonly mostEach: number;
}): ProjectShare {
  const { db, clock, isThere, mostEach } = parts;
  const knownUntil = new Map<string, number>();

  async function note(by: Principal, project: string): Promise<void> {
    await db.transaction(async (tx) => {
      await lockBeginner(tx, by.name);
      if (await isBegun(tx, project)) return;
      const isLimited = !mayDo(by, "administer", wholeFarm);
      if (isLimited && (await countBegunBy(tx, by.name)) >= mostEach) throw tooMany(by, project);
      await addBegun(tx, { name: project, begunBy: by.name, begunAt: clock.now() });
    });
  }

  return {
    async begin(by, project) {
      if (project === defaultProject) return;
      const nowMs = clock.now().getTime();
      if ((knownUntil.get(project) ?? 0) > nowMs) return;
      if (!(await isThere(project))) await note(by, project);
      knownUntil.set(project, nowMs + knownForMs);
    },
  };

  function tooMany(by: Principal, project: string): Fault {
    return new Fault(
      "resource_exhausted",
      `${by.name} has created ${mostEach} projects, which is the limit for a principal, so ${project.slice(0, 200)} cannot be created: ` +
        "use the instance name of one of them, or ask an administrator of the farm to remove projects (`grange project`), " +
        "create this one, or raise the limit (GRANGE_PROJECTS_EACH)",
    );
  }
}
