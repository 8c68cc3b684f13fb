import type { z } from "zod";
import { recordAudit } from "#access/audit.store.ts";
import type { Principal } from "#access/principal.ts";
import { forgetBegun, listBegun } from "#access/projects/begun-project.store.ts";
import type { Project, RemovedProjects, RemoveProjects } from "#api/project.ts";
import { type Namespace, namespaceOf } from "#cas/namespaces/namespace.ts";
import { systemClock } from "#core/clock.ts";
import { defaultProject } from "#core/default-project.ts";
import { projectsOfRepositories } from "#graphs/project-of-repository.store.ts";
import { youngMs } from "./retention/worth-of-blobs.ts";
import type { Services } from "./services.ts";

/** Lists projects with blobs or repositories, and removes unused ones. */
interface ProjectRemoval {
  projects(): Promise<Project[]>;
  /** A removal leaves an entry in the audit. */
  removeProjects(wanted: z.output<typeof RemoveProjects>, by: Principal): Promise<RemovedProjects>;
}

interface KnownProject {
  readonly name: string;
  readonly begunBy: string | null;
  readonly begunAt: Date | null;
  readonly repositories: readonly string[];
}

export function projectRemoval({ db, stores }: Pick<Services, "db" | "stores">): ProjectRemoval {
  /** Each project with its name if that is known, in the order of directories. */
  async function listed() {
    const [begun, uses, namespaces] = await Promise.all([
      listBegun(db),
      projectsOfRepositories(db),
      stores.namespaces(),
    ]);
    const known = new Map<Namespace, KnownProject>();
    for (const { name, begunBy, begunAt } of begun)
      known.set(namespaceOf(name), { name, begunBy, begunAt, repositories: [] });
    for (const { project: name, repository } of uses) {
      if (name === defaultProject) continue;
      const namespace = namespaceOf(name);
      const project = known.get(namespace) ?? {
        name,
        begunBy: null,
        begunAt: null,
        repositories: [],
      };
      known.set(namespace, { ...project, repositories: [...project.repositories, repository] });
    }
    return [...new Set([...namespaces, ...known.keys()])].toSorted().map((namespace) => {
      const project = known.get(namespace);
      return { namespace, known: project, shown: project?.name ?? namespace };
    });
  }

  async function remove(
    by: Principal,
    project: Awaited<ReturnType<typeof listed>>[number],
    withBlobs: boolean,
  ): Promise<string | undefined> {
    const { namespace, known, shown } = project;
    const [user] = known?.repositories ?? [];
    if (user !== undefined)
      return `the repository ${user} keeps its blobs there: give it another project first (grange repository set)`;
    // File times on disks come from the clock of their own machine.
    const before = new Date(systemClock.now().getTime() - youngMs);
    const left = await stores.remove(namespace, withBlobs ? before : undefined);
    if (left.blobs > 0) {
      return withBlobs
        ? `${left.blobs} of its blobs (${left.bytes} bytes) were asked for within 3 hours, and clients may rely on them: try again later`
        : `it has ${left.blobs} blobs (${left.bytes} bytes): remove them as well (--with-blobs), or let the limit of the store do so`;
    }
    await db.transaction(async (tx) => {
      if (known !== undefined) await forgetBegun(tx, known.name);
      const detail = { what: "remove project", project: shown, withBlobs };
      await recordAudit(tx, { actor: by.name, verb: "administer", detail });
    });
    return undefined;
  }

  return {
    async projects() {
      const projects = [];
      // One after the other, because each walks its directories.
      for (const { namespace, known } of await listed()) {
        projects.push({
          name: known?.name ?? null,
          directory: namespace,
          begunBy: known?.begunBy ?? null,
          begunAt: known?.begunAt?.toISOString() ?? null,
          repositories: [...(known?.repositories ?? [])],
          ...(await stores.usage(namespace)),
        });
      }
      return projects;
    },

    async removeProjects({ names, empty, withBlobs }, by) {
      const all = await listed();
      const named = new Map(names.map((name) => [namespaceOf(name), name]));
      const answer: RemovedProjects = { removed: [], kept: [] };
      for (const project of all) {
        const name = named.get(project.namespace);
        const isNamed = name !== undefined;
        if (!isNamed && !empty) continue;
        named.delete(project.namespace);
        const why = await remove(by, project, isNamed && withBlobs);
        const shown = name ?? project.shown;
        if (why === undefined) answer.removed.push(shown);
        else if (isNamed) answer.kept.push({ project: shown, why });
      }
      for (const name of named.values()) {
        const why =
          name === defaultProject ? "the default project stays" : "there is no such project";
        answer.kept.push({ project: name, why });
      }
      return answer;
    },
  };
}
