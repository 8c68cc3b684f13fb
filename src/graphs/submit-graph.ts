import { randomUUID } from "node:crypto";
import type { Principal } from "#access/principal.ts";
import { requireGrantSomewhere } from "#access/require-grant.ts";
import type { SubmitGraph } from "#api/submit-graph.ts";
import { together } from "#db/together.ts";
import { GraphId } from "./graph-id.ts";
import { graphSummary } from "./graph-summary.store.ts";
import { authoriseSubmission } from "./submitting/authorise-submission.ts";
import { planSubmission } from "./submitting/plan-submission.ts";
import { resolveSubmission } from "./submitting/resolve-submission.ts";
import { type StoredSubmission, storeSubmission } from "./submitting/store-submission.ts";
import { storeTemplatesEarly } from "./submitting/store-templates-early.ts";
import type { GraphOrigin, SubmissionServices } from "./submitting/submission.ts";
import {
  asSubmissionStep,
  endWithoutGraph,
  submissionTrace,
} from "./submitting/submission-trace.ts";

/**
 * Plans the graph of a commit and stores it; it then runs.
 *
 * A request with an id that exists already is answered with that graph. Throws `DefinitionProblems`, the errors of
 * fetching the commit, and `permission_denied` for what the principal or the branch does not allow.
 */
export async function submitGraph(
  services: SubmissionServices,
  request: SubmitGraph,
  by: Principal,
  origin: GraphOrigin = {},
): Promise<StoredSubmission> {
  const { db } = services;
  // A caller without any right to submit must not cause a fetch.
  requireGrantSomewhere(by, "submit");
  const id = GraphId.parse(request.id ?? randomUUID());
  const known = request.id === undefined ? undefined : await graphSummary(db, id);
  if (known !== undefined) return { graph: known, isNew: false };

  const trace = submissionTrace(services.tracing, origin.traceparent);
  const asStep = <T>(name: string, work: () => Promise<T>) => asSubmissionStep(trace, name, work);
  const submission = { id, request, by, origin, trace };
  try {
    const authorised = await asStep("fetch commit", () =>
      authoriseSubmission(services, submission),
    );
    const resolved = await asStep("read definitions", () =>
      resolveSubmission(services, authorised),
    );
    const [planned] = await together([
      asStep("plan", () => planSubmission(services, resolved)),
      storeTemplatesEarly(db, resolved.from),
    ]);
    const stored = await asStep("store graph", () => storeSubmission(db, planned));
    if (!stored.isNew) endWithoutGraph(trace, "existed");
    return stored;
  } catch (reason) {
    endWithoutGraph(trace, "rejected");
    throw reason;
  }
}
