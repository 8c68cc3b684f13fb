import { Fault } from "#core/fault.ts";
import { caseKey } from "#core/test-case.ts";
import type { Tx } from "#db/db.ts";
import type { StoredSuite } from "../suites.store.ts";
import { artifactsById, type StoredArtifact } from "./artifact.store.ts";
import { planRequest, type Standing } from "./plan-request.ts";
import type { StoredRequest } from "./request.store.ts";
import { insertJobs, measuredCases } from "./request-job.store.ts";

/**
 * Inserts the missing jobs of a request, in the caller's transaction and with the suite locked.
 *
 * Safe to repeat: running or finished work is not requested twice. Returns how many jobs are new.
 */
export async function fillRequest(
  tx: Tx,
  suite: StoredSuite,
  request: StoredRequest,
  now: Date,
): Promise<number> {
  const ids = [request.artifactId, ...(request.parentId === null ? [] : [request.parentId])];
  const artifacts = await artifactsById(tx, ids);
  const measured = await measuredCases(tx, ids);
  const standingOf = (artifact: StoredArtifact): Standing => ({
    artifact,
    measured: new Map(
      measured
        .filter(({ artifactId }) => artifactId === artifact.id)
        .map((each) => [caseKey(each), each.iterations]),
    ),
  });
  const own = artifacts.find(({ id }) => id === request.artifactId);
  const parent = artifacts.find(({ id }) => id === request.parentId);
  if (own === undefined) {
    throw new Fault("internal", `the artifact of benchmark request ${request.id} is gone`);
  }
  const jobs = planRequest(
    suite.definition,
    request,
    standingOf(own),
    parent === undefined ? undefined : standingOf(parent),
  );
  return insertJobs(tx, request.id, jobs, {
    suiteDigest: suite.digest,
    maxAttempts: suite.definition.maxAttempts,
    now,
  });
}
