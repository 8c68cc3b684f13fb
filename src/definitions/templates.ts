import type { Parameter, Switch } from "./definition-file.ts";
import type { DefinitionOrigin } from "./definition-origin.ts";
import type { NamedGraph } from "./named-graph.ts";

/** A declaration at the top of definitions, and its place. */
export interface Declared<Declaration> {
  readonly declaration: Declaration;
  readonly origin: DefinitionOrigin;
}

/** A job as written under its name, with unfilled placeholders. */
export interface JobTemplate {
  readonly name: string;
  readonly job: unknown;
  readonly origin: DefinitionOrigin;
}

/** An expression that becomes a map of jobs. */
export interface JobsTemplate {
  readonly jobs: unknown;
  readonly origin: DefinitionOrigin;
}

/** All definitions of one commit, push or catalog, before anything is filled in. */
export interface Templates {
  readonly parameters: ReadonlyMap<string, Declared<Parameter>>;
  readonly switches: ReadonlyMap<string, Declared<Switch>>;
  readonly graphs: ReadonlyMap<string, Declared<NamedGraph>>;
  readonly jobs: readonly JobTemplate[];
  readonly expressions: readonly JobsTemplate[];
}
