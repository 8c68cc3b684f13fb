import { z } from "zod";
import { placesOf } from "#access/places-of.ts";
import { type Principal, wholeFarm } from "#access/principal.ts";
import { mayDo } from "#access/require-grant.ts";
import type { FoundObject, FoundObjects } from "#api/find.ts";
import { wordsOf } from "#db/contains-words.ts";
import type { Db } from "#db/db.ts";
import { ExecutionId } from "#execution/execution.ts";
import { findWorkers } from "#execution/leasing/find-workers.store.ts";
import {
  findGraphById,
  findGraphs,
  findJobs,
  findRepositories,
} from "#graphs/find-by-words.store.ts";
import { findInvocations } from "#invocations/pages/find-invocations.store.ts";
import { findCases } from "#perf/results/find-cases.store.ts";
import { executionPlaces, isIn } from "./handlers/object-finders.ts";

/**
 * Returns objects whose names contain all words of a text, at most `limit` of each kind: only what the caller may read.
 * Workers and benchmarks belong to the whole farm. An id of a graph or of an execution finds exactly that object.
 */
export async function findObjects(
  db: Db,
  caller: Principal,
  { text, limit }: { readonly text: string; readonly limit: number },
): Promise<FoundObjects> {
  const places = placesOf(caller, ["read"]);
  const id = z.uuid().safeParse(text.trim().toLowerCase());
  if (id.success) {
    const execution = ExecutionId.parse(id.data);
    const [graphs, executionAt] = await Promise.all([
      findGraphById(db, id.data, places),
      executionPlaces(db, execution),
    ]);
    const mayRead = executionAt.some(isIn(places));
    return {
      objects: [...graphs, ...(mayRead ? [{ kind: "execution" as const, id: id.data }] : [])],
    };
  }

  const words = wordsOf(text);
  if (words.length === 0) return { objects: [] };
  const wanted = { words, places, limit };
  const mayReadFarm = mayDo(caller, "read", wholeFarm);
  const found: readonly (readonly FoundObject[])[] = await Promise.all([
    findRepositories(db, wanted),
    findGraphs(db, wanted),
    findJobs(db, wanted),
    findInvocations(db, wanted),
    mayReadFarm ? findCases(db, words, limit) : [],
    mayReadFarm ? workersNamed(db, words, limit) : [],
  ]);
  return { objects: found.flat() };
}

async function workersNamed(
  db: Db,
  words: readonly string[],
  limit: number,
): Promise<FoundObject[]> {
  const names = await findWorkers(db, words, limit);
  return names.map((name) => ({ kind: "worker", name }));
}
