import { listBegun } from "#access/projects/begun-project.store.ts";
import type { StoreContents } from "#api/store-contents.ts";
import { type Namespace, namespaceOf } from "#cas/namespaces/namespace.ts";
import { defaultProject } from "#core/default-project.ts";
import type { Tx } from "#db/db.ts";
import { projectsOfRepositories } from "#graphs/project-of-repository.store.ts";
import { idleClassesMs } from "./retention/store-census.ts";
import type { Services } from "./services.ts";

/** What a caller may know: of these projects, and of the whole store. */
interface Reader {
  readonly mayReadProject: (project: string) => boolean;
  readonly mayReadFarm: boolean;
}

/** Returns what the store had when it was last counted, as far as the caller may know it. */
export async function storeContents(
  { db, storeStanding, storeCounts }: Pick<Services, "db" | "storeStanding" | "storeCounts">,
  { mayReadProject, mayReadFarm }: Reader,
): Promise<StoreContents> {
  const [{ limitBytes, counted }, counts, names] = await Promise.all([
    storeStanding(),
    storeCounts(),
    projectNames(db),
  ]);
  /** Adds the project of a directory, and leaves out what the caller may not read. */
  const readable = <In extends { readonly directory: string }>(all: readonly In[]) =>
    all.flatMap((each) => {
      const project = names.get(each.directory) ?? null;
      const mayRead = project === null ? mayReadFarm : mayReadProject(project);
      return mayRead ? [{ ...each, project }] : [];
    });
  return {
    countedAt: counts?.at ?? null,
    farm:
      mayReadFarm && counted !== null
        ? { limitBytes, bytes: counted.bytes, blobs: counted.blobs }
        : null,
    idleClassesMs: [...idleClassesMs],
    projects: readable(counts?.projects ?? []),
    next: readable(counts?.next ?? []).map(({ project, digest, bytes, lastUsedAt, isHeld }) => ({
      project,
      digest,
      bytes,
      lastUsedAt,
      isHeld,
    })),
  };
}

/** Returns the names of projects by their directories. */
async function projectNames(db: Tx): Promise<ReadonlyMap<string, string>> {
  const [begun, used] = await Promise.all([listBegun(db), projectsOfRepositories(db)]);
  const names = [
    defaultProject,
    ...begun.map(({ name }) => name),
    ...used.map((each) => each.project),
  ];
  return new Map(names.map((name): [Namespace, string] => [namespaceOf(name), name]));
}
