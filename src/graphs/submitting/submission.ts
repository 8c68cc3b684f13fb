import type { Principal } from "#access/principal.ts";
import type { RunCause } from "#api/graph.ts";
import type { SubmitGraph } from "#api/submit-graph.ts";
import type { Db } from "#db/db.ts";
import type { TemplateEvaluator } from "#definitions/template-evaluator.ts";
import type { Tracing } from "#tracing/tracing.ts";
import type { CatalogCache } from "../catalogs/catalog-cache.ts";
import type { CommitInputReader } from "../commit-inputs.ts";
import type { WitnessServices } from "../domain-of-commit.ts";
import type { GraphParent } from "../graph.store.ts";
import type { GraphId } from "../graph-id.ts";
import type { OutsiderRules } from "../plan-for-outsiders.ts";
import type { RepositoryAccess } from "../repository-access.ts";
import type { SubmissionTrace } from "./submission-trace.ts";

export interface SubmissionServices extends WitnessServices {
  readonly db: Db;
  readonly access: RepositoryAccess;
  readonly inputs: CommitInputReader;
  readonly evaluator: TemplateEvaluator;
  readonly cache: CatalogCache;
  /** Undefined without tracing. */
  readonly tracing?: Pick<Tracing, "begin" | "record"> | undefined;
}

/** The origin of a graph that something else caused: its set, its source, and why its jobs run first. */
export interface GraphOrigin {
  /**
   * The full ref by which the farm itself found the commit: `refs/heads/main`, `refs/pull/7/head`. It determines the
   * trust domain; no request contains it.
   */
  readonly ref?: string;
  /** The limits for definitions of authors who may not write in the repository. */
  readonly outsiders?: OutsiderRules;
  readonly set?: GraphId;
  readonly parent?: GraphParent;
  readonly cause?: RunCause;
  /** The header of the client that submitted it; absent without one. */
  readonly traceparent?: string | undefined;
}

/** A request, before any part of it was checked. */
export interface Submission {
  /** The id of the graph that it becomes. */
  readonly id: GraphId;
  readonly request: SubmitGraph;
  readonly by: Principal;
  readonly origin: GraphOrigin;
  /** Undefined when it is not traced. */
  readonly trace?: SubmissionTrace | undefined;
}
