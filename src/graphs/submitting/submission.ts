import type { Principal } from "#access/principal.ts";
import type { RunCause } from "#api/graph.ts";
import type { SubmitGraph } from "#api/submit-graph.ts";
import type { Db } from "#db/db.ts";
import type { TemplateEvaluator } from "#definitions/template-evaluator.ts";
import type { CatalogCache } from "../catalogs/catalog-cache.ts";
import type { CommitInputReader } from "../commit-inputs.ts";
import type { WitnessServices } from "../domain-of-commit.ts";
import type { GraphParent } from "../graph.store.ts";
import type { GraphId } from "../graph-id.ts";
import type { OutsiderRules } from "../plan-for-outsiders.ts";
import type { RepositoryAccess } from "../repository-access.ts";

export interface SubmissionServices extends WitnessServices {
  readonly db: Db;
  readonly access: RepositoryAccess;
  readonly inputs: CommitInputReader;
  readonly evaluator: TemplateEvaluator;
  readonly cache: CatalogCache;
}

/** Of a graph that something else is the reason for: its set, where it comes from, why its jobs run first. */
export interface GraphOrigin {
  /**
   * In full, the ref by which the farm itself found the commit: `refs/heads/main`, `refs/pull/7/head`. From
   * it follows the trust domain; no request names it.
   */
  readonly ref?: string;
  /** What its definitions may ask for, when somebody wrote them who may not write in the repository. */
  readonly outsiders?: OutsiderRules;
  readonly set?: GraphId;
  readonly parent?: GraphParent;
  readonly cause?: RunCause;
}

/** What somebody asks for, before anything of it was looked at. */
export interface Submission {
  /** Of the graph that it becomes. */
  readonly id: GraphId;
  readonly request: SubmitGraph;
  readonly by: Principal;
  readonly origin: GraphOrigin;
}
