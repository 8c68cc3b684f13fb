import { z } from "zod";
import { matchesPattern } from "#access/matches-pattern.ts";
import { reachesRepository } from "#access/places-of.ts";
import { type Where, wholeFarm } from "#access/principal.ts";
import { projectOf } from "#caches/rev2/project-of.ts";
import type { PlacePatterns } from "#core/place-patterns.ts";
import type { Db } from "#db/db.ts";
import type { ExecutionId } from "#execution/execution.ts";
import { originOfExecution } from "#execution/execution-standing.store.ts";
import { projectOfBuild } from "#granaries/granary-build.store.ts";
import { requireVisibleRepository } from "#graphs/catalogs/known-repository.store.ts";
import { placesOfExecution } from "#graphs/places-of-execution.store.ts";
import { findSet } from "#graphs/sets/join-set.ts";
import { placesOfSet } from "#graphs/sets/named-set.store.ts";
import { requestedBy } from "#invocations/pages/requested-by.store.ts";
import { placeOfSearch } from "#searches/search.store.ts";
import type { ObjectFinders } from "../http/object-places.ts";
import { describeExecution, executionOfCall } from "./execution-of-call.ts";
import { found } from "./found.ts";
import { graphOfCall } from "./graph-of-call.ts";
import { searchIdFrom } from "./search-id-from.ts";

/** Returns how the server finds the places of the objects that calls name. */
export function objectFinders(db: Db): ObjectFinders {
  return {
    async graph({ params }, visible) {
      const { id, ...place } = await graphOfCall(db, params["graph"] ?? "", visible);
      return { places: [place], params: { graph: id } };
    },

    async set({ params }, visible) {
      const written = params["set"] ?? "";
      const set = await findSet(db, written, visible);
      const places = set === undefined ? [] : await placesOfSet(db, set);
      found(places.find(isIn(visible)), `set "${written}"`);
      return { places, params: { set: written } };
    },

    async execution({ params }, visible) {
      const id = executionOfCall(params["execution"] ?? "");
      const places = await executionPlaces(db, id);
      found(places.find(isIn(visible)), describeExecution(id));
      return { places };
    },

    async search({ params }, visible) {
      const id = searchIdFrom(params["search"] ?? "");
      const place = await placeOfSearch(db, id);
      return { places: [found([place].find(isIn(visible)), `search ${id}`)] };
    },

    async build({ params }, visible) {
      const id = z.uuid().safeParse(params["build"]);
      const project = id.success ? await projectOfBuild(db, id.data) : undefined;
      const place = project === undefined ? undefined : placeOfProject(project);
      return { places: [found([place].find(isIn(visible)), "build of a granary with that id")] };
    },

    // The answer to a caller without the right follows from the call alone: it says nothing of what the project has.
    project: async ({ query }) => ({
      places: [placeOfProject(projectOf(textOf(query["project"])))],
    }),

    async repository({ params }, visible) {
      const name = await requireVisibleRepository(db, params["repository"] ?? "", (repository) =>
        reachesRepository(visible, repository),
      );
      const branch = params["branch"] ?? "";
      return { places: [{ repository: name, branch }], params: { repository: name } };
    },

    async "repository or farm"({ query }) {
      const repository = textOf(query["repository"]);
      if (repository === "") return { places: [wholeFarm] };
      return { places: [{ repository, branch: textOf(query["branch"]) }] };
    },
  };
}

/** Returns the places of an execution: those of its graphs, and its project if a build tool requested it. */
export async function executionPlaces(db: Db, id: ExecutionId): Promise<Where[]> {
  const origin = await originOfExecution(db, id);
  if (origin === undefined) return [];
  const [graphs, operations] = await Promise.all([
    placesOfExecution(db, id, origin.invocation),
    requestedBy(db, id, 1),
  ]);
  const places = [...graphs, ...(operations.length > 0 ? [placeOfProject(origin.project)] : [])];
  // Its graph and its operations are gone: nobody can say any more whose it was.
  return places.length > 0 ? places : [wholeFarm];
}

function placeOfProject(project: string): Where {
  return { repository: project, branch: "" };
}

/** Returns a test whether a place is among the visible ones. */
export function isIn({ patterns }: PlacePatterns): (place: Where | undefined) => place is Where {
  return (place): place is Where =>
    place !== undefined &&
    patterns.some(
      ({ repository, branch }) =>
        matchesPattern(repository, place.repository) && matchesPattern(branch, place.branch),
    );
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
