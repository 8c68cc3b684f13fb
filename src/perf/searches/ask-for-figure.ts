import { Fault } from "#core/fault.ts";
import { findArtifact } from "../requests/artifact.store.ts";
import { createOrExtendRequest } from "../requests/create-or-extend-request.ts";
import { lockSuite } from "../suites.store.ts";
import type { AskForFigure } from "./advance-searches.ts";

/**
 * Requests one benchmark of an artifact, without its parents: a search compares its own measurements. An open request
 * of the artifact is extended if it lacks the case.
 */
export function askForFigure(now: () => Date): AskForFigure {
  return async (tx, { suite: name, artifact: tag, case: wanted, by, because }) => {
    const suite = await lockSuite(tx, name);
    if (suite === undefined) throw new Fault("not_found", `there is no suite "${name}" any more`);
    const artifact = await findArtifact(tx, name, tag);
    if (artifact === undefined)
      throw new Fault("not_found", `there is no artifact ${tag} any more`);
    try {
      await createOrExtendRequest(
        tx,
        suite,
        {
          artifact,
          parent: null,
          parents: "alone",
          kind: artifact.kind,
          pr: null,
          waitForArtifacts: false,
          backends: [wanted.backend],
          profiles: wanted.profile === "" ? [] : [wanted.profile],
          targets: [wanted.target],
          benchmarks: [wanted.benchmark],
          paired: false,
          runs: null,
          by,
          because,
        },
        now(),
      );
      return true;
    } catch (reason) {
      // Thrown before anything was written: it lacks the backend, or the suite no longer measures that case.
      if (reason instanceof Fault && reason.code === "failed_precondition") return false;
      throw reason;
    }
  };
}
