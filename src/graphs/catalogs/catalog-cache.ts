import { Fault } from "#core/fault.ts";
import { type RecentlyUsed, recentlyUsed } from "#core/recently-used.ts";
import type { Tx } from "#db/db.ts";
import type { SourceFile } from "#definitions/source-file.ts";
import { catalogOfJobs } from "./catalog-of-jobs.ts";
import type { PlannedTemplates } from "./plan-templates.ts";
import { jobsOfCatalog, readTemplateCatalog } from "./template-catalog.store.ts";
import type { TemplateCatalog } from "./template-catalog.ts";

/**
 * The number of catalog entries in memory: a few of the largest catalogs, or very many usual ones.
 */
const mostEntries = 200_000;

const mostPlannedJobs = 100_000;

const mostTrees = 10_000;

/** The number of characters of files in memory. */
const mostCharacters = 64 * 1024 * 1024;

/**
 * Caches catalogs and the files that they were read from.
 *
 * Neither can change: a catalog is named by its content, a file by its Git id. So facts about a definition hold for
 * every catalog that contains it.
 */
export class CatalogCache {
  readonly #catalogs = recentlyUsed<Promise<TemplateCatalog>>(
    mostEntries,
    (catalog) => catalog.entries.length,
  );
  readonly files: RecentlyUsed<SourceFile> = recentlyUsed<SourceFile>(
    mostCharacters,
    (source) => source.length,
  );

  /** The jobs of catalogs for given requests: see `planTemplates`. */
  readonly plans: RecentlyUsed<Promise<PlannedTemplates>> = recentlyUsed<Promise<PlannedTemplates>>(
    mostPlannedJobs,
    ({ definitions }) => definitions.jobs.length,
  );

  /** Git's id of the directory of definitions of a commit, by mirror and commit; undefined for a commit without one. */
  readonly trees: RecentlyUsed<Promise<string | undefined>> =
    recentlyUsed<Promise<string | undefined>>(mostTrees);

  /** Returns the catalog with a digest, of templates or of a graph's jobs; throws `not_found`. */
  get(tx: Tx, digest: string): Promise<TemplateCatalog> {
    return this.#catalogs.get(digest, async () => {
      const catalog =
        (await readTemplateCatalog(tx, digest)) ?? (await readCatalogOfJobs(tx, digest));
      if (catalog === undefined) {
        throw new Fault("not_found", `there is no catalog ${digest}; see "grange catalog list"`);
      }
      return catalog;
    });
  }

  put(catalog: TemplateCatalog): void {
    this.#catalogs.set(catalog.digest, Promise.resolve(catalog));
  }
}

async function readCatalogOfJobs(tx: Tx, digest: string): Promise<TemplateCatalog | undefined> {
  const jobs = await jobsOfCatalog(tx, digest);
  return jobs.length === 0 ? undefined : catalogOfJobs(digest, jobs);
}
