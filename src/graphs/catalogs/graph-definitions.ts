import { placesOf } from "#access/places-of.ts";
import type { Principal } from "#access/principal.ts";
import type { ResolvedBranch } from "#api/branch.ts";
import type { GraphChoice } from "#api/graph-choice.ts";
import { Fault } from "#core/fault.ts";
import { allPlaces, type PlacePatterns } from "#core/place-patterns.ts";
import type { Db, Tx } from "#db/db.ts";
import type { Requests } from "#definitions/choose-values.ts";
import { problemNowhere } from "#definitions/definition-origin.ts";
import { DefinitionProblems } from "#definitions/definition-problems.ts";
import { placesOfJobs } from "#definitions/job-places.ts";
import { readTemplates } from "#definitions/read-templates.ts";
import type { TemplateEvaluator } from "#definitions/template-evaluator.ts";
import type { Templates } from "#definitions/templates.ts";
import type { FetchedCommit, Mirrors } from "#git/fetch-commit.ts";
import type { Git } from "#git/run-git.ts";
import { nameRepository } from "../repository.store.ts";
import type { RepositoryAccess } from "../repository-access.ts";
import { fetchSource } from "../resolve-sources.ts";
import { allBranches } from "./branch-definition.ts";
import type { CatalogCache } from "./catalog-cache.ts";
import {
  branchCatalog,
  catalogOfTree,
  pushedCatalog,
  rememberTree,
} from "./catalog-source.store.ts";
import { type DefinitionsPointer, definitionsPointer, pointerFile } from "./definitions-pointer.ts";
import {
  definitionsTree,
  isDefinitionFile,
  listDefinitions,
  noDefinitions,
  readDefinitionFiles,
} from "./read-definition-files.ts";
import { readDefinitionsDirectory } from "./read-definitions-directory.ts";
import { type FoundCatalog, findCatalogs, keepTemplates } from "./template-catalog.store.ts";
import { type TemplateCatalog, templateCatalogOf, templatesOf } from "./template-catalog.ts";

export interface CatalogServices {
  readonly db: Db;
  readonly access: RepositoryAccess;
  readonly git: Git;
  readonly mirrors: Mirrors;
  readonly evaluator: TemplateEvaluator;
  readonly cache: CatalogCache;
}

/** Definitions that a graph can be made of. */
export interface GraphDefinitions {
  readonly catalog: TemplateCatalog;
  readonly templates: Templates;
  /** `jobs`: the jobs of an existing graph, under the digest of its own catalog, instead of templates. */
  readonly holds: FoundCatalog["holds"];
  /** The commit that they were read from; undefined when they come from no commit. */
  readonly commit?: string | undefined;
  /**
   * Reads the same definitions from files, so that problems name a file and line; undefined when they already come from
   * files.
   */
  readonly reread: (() => Promise<Templates>) | undefined;
  /** Whether they come from the graph's own commit. */
  readonly isOfCommit: boolean;
  /**
   * Git's id of the directory that they were in; undefined when they come from no commit or from another repository.
   */
  readonly tree?: string | undefined;
  /** Stores everything that a graph made from these definitions refers to. */
  keep(tx: Tx): Promise<void>;
}

/** The repository and commit for which a graph is made. */
interface GraphPlace {
  /** The name of the repository. */
  readonly repository: string;
  readonly branch: string;
  readonly said: ResolvedBranch;
  /** Undefined without a commit. */
  readonly commit: FetchedCommit | undefined;
  /** The submitter: when a commit points to definitions of another repository, it must be allowed to read that. */
  readonly by: Principal;
  /** Whether the author of the commit may not write in the repository. */
  readonly isOfOutsiders?: boolean;
}

/** Returns the chosen definitions, or else those of the branch. Throws `DefinitionProblems`. */
export async function graphDefinitions(
  services: CatalogServices,
  place: GraphPlace,
  choice: GraphChoice,
): Promise<GraphDefinitions> {
  if (choice.catalog !== undefined) {
    const places = placesOf(place.by, ["read-sources", "submit", "clone"]);
    return storedCatalog(services, choice.catalog, places);
  }
  if (choice.definitions !== undefined) {
    return ofFiles(
      services,
      new Map(Object.entries(choice.definitions).filter(([file]) => isDefinitionFile(file))),
    );
  }
  const { repository, branch, commit } = place;
  const source = choice.definitionsFrom ?? place.said.source;
  switch (source.kind) {
    case "commit": {
      if (commit !== undefined) return ofCommit(services, repository, commit, place);
      const current =
        (await branchCatalog(services.db, repository, branch)) ??
        (await branchCatalog(services.db, repository, allBranches));
      if (current !== undefined) return storedCatalog(services, current.catalog, allPlaces);
      throw new Fault(
        "failed_precondition",
        `${nameOfBranch(place)} has no graph yet, so its definitions are not known: name a commit, or push them with "grange catalog push"`,
      );
    }
    case "repository": {
      return definitionsAt(
        services,
        await services.mirrors.fetchCommit(source.repository, source.rev ?? "HEAD"),
      );
    }
    case "directory":
      return ofFiles(services, await readDefinitionsDirectory(source.path));
    case "pushed": {
      const pushed =
        (await pushedCatalog(services.db, repository, branch)) ??
        (await pushedCatalog(services.db, repository, allBranches));
      if (pushed !== undefined) return storedCatalog(services, pushed, allPlaces);
      throw new Fault(
        "failed_precondition",
        `${nameOfBranch(place)} uses definitions that are pushed, and none were: "grange catalog push --branch ${branch || allBranches}"`,
      );
    }
  }
}

/** Returns the definitions in a commit of another repository than that of the graph. Throws `DefinitionProblems`. */
export async function definitionsAt(
  services: CatalogServices,
  other: FetchedCommit,
): Promise<GraphDefinitions> {
  const name = await services.db.transaction((tx) => nameRepository(tx, other.repository));
  return ofCommit(services, name, other, undefined);
}

/** Returns the requests of the submitter and the values of the branch. */
export function wantedOf(choice: GraphChoice, { parameters, switches }: ResolvedBranch): Requests {
  return {
    parameters: choice.parameters ?? {},
    switches: choice.switches ?? {},
    graph: choice.graph,
    branch: { parameters, switches },
  };
}

/**
 * Runs a function on definitions; reports its problems with their places in the files.
 *
 * A stored catalog has no places. Where there are files, they are read again: slow, but only after a problem, when the
 * submitter has to change something anyway.
 */
export async function withPlaces<Result>(
  { templates, reread }: GraphDefinitions,
  work: (templates: Templates) => Promise<Result>,
): Promise<Result> {
  try {
    return await work(templates);
  } catch (reason) {
    if (!(reason instanceof DefinitionProblems) || reread === undefined) throw reason;
    return work(await reread());
  }
}

async function storedCatalog(
  services: CatalogServices,
  written: string,
  places: PlacePatterns,
): Promise<GraphDefinitions> {
  const { digest, holds } = await findCatalog(services.db, written, places);
  const catalog = await services.cache.get(services.db, digest);
  return {
    catalog,
    holds,
    templates: templatesOf(catalog),
    reread: undefined,
    isOfCommit: false,
    // It may be in this server's memory only, when nobody has used it for long.
    async keep(tx) {
      if (holds === "templates") await keepTemplates(tx, catalog);
    },
  };
}

/** Returns the catalog with a digest or its beginning, among those that are used at the places. */
export async function findCatalog(
  tx: Tx,
  written: string,
  places: PlacePatterns,
): Promise<FoundCatalog> {
  const [found, other] = await findCatalogs(tx, written, places);
  if (found === undefined)
    throw new Fault("not_found", `there is no catalog ${written}; see "grange catalog list"`);
  if (other !== undefined) {
    throw new Fault(
      "invalid_argument",
      `"${written}" is the start of several catalogs; write more digits`,
    );
  }
  return found;
}

async function ofFiles(
  services: CatalogServices,
  files: ReadonlyMap<string, string>,
): Promise<GraphDefinitions> {
  const templates = await readTemplates(files);
  const catalog = await templateCatalogOf(templates);
  return {
    catalog,
    templates,
    holds: "templates",
    reread: undefined,
    isOfCommit: false,
    async keep(tx) {
      await keepTemplates(tx, catalog);
      services.cache.put(catalog);
    },
  };
}

/**
 * Finds the catalog of a directory that was read before by its Git id, with one row.
 *
 * `own`: the place of a graph of the commit itself; undefined for a commit of another repository.
 */
async function ofCommit(
  services: CatalogServices,
  repository: string,
  commit: FetchedCommit,
  own: GraphPlace | undefined,
): Promise<GraphDefinitions> {
  const { db, git, cache } = services;
  const isOfCommit = own !== undefined;
  const tree = await cache.trees.get(`${commit.mirror}\n${commit.sha}`, () =>
    definitionsTree(git, commit),
  );
  if (tree === undefined) throw noDefinitions(commit.sha);
  const read = async () =>
    readDefinitionFiles(git, commit, await listDefinitions(git, commit), cache);
  const known = await catalogOfTree(db, repository, tree);
  const ownTree = isOfCommit ? tree : undefined;
  if (known?.hasPlaces === true) {
    const catalog = await cache.get(db, known.catalog);
    const templates = templatesOf(catalog);
    return {
      catalog,
      templates,
      holds: "templates",
      commit: commit.sha,
      reread: read,
      isOfCommit,
      tree: ownTree,
      // It may be in this server's memory only, when nobody has used it for long.
      async keep(tx) {
        await keepTemplates(tx, catalog);
      },
    };
  }
  // A directory with a pointer is not cached: its content depends on the other commit.
  const entries = await listDefinitions(git, commit);
  const pointer = await definitionsPointer(git, commit, entries);
  if (pointer !== undefined) return pointedAt(services, pointer, own);
  const templates = await readDefinitionFiles(git, commit, entries, cache);
  const catalog = await templateCatalogOf(templates);
  const places = placesOfJobs(templates);
  return {
    catalog,
    templates,
    holds: "templates",
    commit: commit.sha,
    reread: undefined,
    isOfCommit,
    tree: ownTree,
    async keep(tx) {
      await keepTemplates(tx, catalog);
      await rememberTree(tx, { repository, tree, catalog: catalog.digest, places });
      cache.put(catalog);
    },
  };
}

/** Returns the definitions that a commit points to. They count as the commit's own definitions. */
async function pointedAt(
  services: CatalogServices,
  pointer: DefinitionsPointer,
  own: GraphPlace | undefined,
): Promise<GraphDefinitions> {
  const refuse = (message: string) =>
    new DefinitionProblems([problemNowhere(message, pointerFile)]);
  if (own === undefined)
    throw refuse(
      "is in a commit that another file of this kind names, and only one step is allowed: name the repository that has the definitions",
    );
  if (own.isOfOutsiders === true)
    throw refuse("a pull request from a fork cannot take its definitions from another repository");
  const { repository, commit } = pointer;
  const other = await fetchSource(services, { repository, commit }, own.by);
  if (other instanceof Fault) throw refuse(`cannot be followed: ${other.message}`);
  return { ...(await definitionsAt(services, other)), isOfCommit: true };
}

function nameOfBranch({ repository, branch }: GraphPlace): string {
  return branch === "" ? repository : `${branch} of ${repository}`;
}
