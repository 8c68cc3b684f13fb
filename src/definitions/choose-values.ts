import type { SwitchValues } from "#api/graph-choice.ts";
import { problemNowhere } from "./definition-origin.ts";
import type { DefinitionProblem } from "./definition-problems.ts";
import type { NamedGraph } from "./named-graph.ts";
import { suggestion } from "./nearest-name.ts";
import { parameterValues } from "./parameter-values.ts";
import { defaultValueOf, readSwitchValues } from "./switch-values.ts";
import type { Declared, Templates } from "./templates.ts";

/** A submitter's requests for definitions, and the values of the branch. */
export interface Requests {
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly switches: SwitchValues;
  /** The name of a graph in the definitions. */
  readonly graph?: string | undefined;
  /** The branch's settings, for definitions of any age: values that these do not declare are ignored. */
  readonly branch?:
    | {
        readonly parameters: Readonly<Record<string, unknown>>;
        readonly switches: SwitchValues;
      }
    | undefined;
}

export interface ChosenValues {
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly switches: SwitchValues;
  readonly graph: NamedGraph | undefined;
}

/**
 * Returns every parameter and switch with its value; later sources override earlier ones: the declaration, the branch,
 * the named graph, the request.
 */
export function chooseValues(
  templates: Templates,
  wanted: Requests,
  problems: DefinitionProblem[],
): ChosenValues {
  const graph = graphOf(templates, wanted.graph, problems);
  return {
    graph: graph?.declaration,
    parameters: chooseParameters(templates, wanted, graph, problems),
    switches: chooseSwitches(templates, wanted, graph, problems),
  };
}

function graphOf(
  { graphs }: Templates,
  name: string | undefined,
  problems: DefinitionProblem[],
): Declared<NamedGraph> | undefined {
  if (name === undefined) return undefined;
  const graph = graphs.get(name);
  if (graph === undefined) {
    const known = [...graphs.keys()];
    const hint =
      suggestion(name, known) ||
      (known.length === 0 ? '; they have no "graphs"' : `; there are ${known.join(", ")}`);
    problems.push(problemNowhere(`the definitions have no graph "${name}"${hint}`));
  }
  return graph;
}

function chooseParameters(
  templates: Templates,
  wanted: Requests,
  graph: Declared<NamedGraph> | undefined,
  problems: DefinitionProblem[],
): Record<string, unknown> {
  const inherited = declaredOnly(wanted.branch?.parameters ?? {}, templates.parameters);
  const ofGraph = graph?.declaration.parameters ?? {};
  const given = { ...inherited, ...ofGraph, ...wanted.parameters };
  const { values, problems: wrong } = parameterValues(templates.parameters, given);
  for (const { name, isDeclarationWrong, message } of wrong) {
    const path = ["parameters", name];
    const origin = isDeclarationWrong
      ? templates.parameters.get(name)?.origin
      : isOfGraph(name, ofGraph, wanted.parameters)
        ? graph?.origin
        : undefined;
    problems.push(
      origin?.problem({
        path: isDeclarationWrong ? path : ["graphs", wanted.graph ?? "", ...path],
        of: "key",
        message,
      }) ?? problemNowhere(message),
    );
  }
  return values;
}

function chooseSwitches(
  templates: Templates,
  wanted: Requests,
  graph: Declared<NamedGraph> | undefined,
  problems: DefinitionProblem[],
): SwitchValues {
  const declared = new Map(
    [...templates.switches].map(([name, { declaration }]) => [name, declaration]),
  );
  const usual = Object.fromEntries(
    [...declared].map(([name, declaration]) => [name, defaultValueOf(declaration)]),
  );
  const ofBranch = readSwitchValues(
    declared,
    declaredOnly(wanted.branch?.switches ?? {}, declared),
  );
  problems.push(
    ...ofBranch.problems.map(({ message }) =>
      problemNowhere(`the branch definition is wrong: ${message}; see "grange branch show"`),
    ),
  );
  const ofGraph = readSwitchValues(declared, graph?.declaration.switches ?? {});
  for (const { name, message } of ofGraph.problems) {
    const path = ["graphs", wanted.graph ?? "", "switches", name];
    if (graph !== undefined) problems.push(graph.origin.problem({ path, of: "key", message }));
  }
  const given = readSwitchValues(declared, wanted.switches);
  problems.push(...given.problems.map(({ message }) => problemNowhere(message)));
  return { ...usual, ...ofBranch.values, ...ofGraph.values, ...given.values };
}

function isOfGraph(name: string, ofGraph: object, given: object): boolean {
  return Object.hasOwn(ofGraph, name) && !Object.hasOwn(given, name);
}

function declaredOnly<Value>(
  values: Readonly<Record<string, Value>>,
  declared: ReadonlyMap<string, unknown>,
): Record<string, Value> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => declared.has(name)));
}
