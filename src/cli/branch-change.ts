import type { BranchBody } from "#api/branch.ts";
import type { DefinitionsSource } from "#api/graph-choice.ts";
import { parametersOf } from "./parameters.ts";
import { switchesOf } from "./switches.ts";
import { UsageError } from "./usage-error.ts";

export interface BranchOptions {
  readonly protect?: boolean;
  readonly customisable?: boolean;
  readonly cap?: number;
  readonly source?: string;
  readonly param?: readonly string[];
}

/** Returns the entry of a branch with new values added to it. */
export function changedBody(
  before: BranchBody | null,
  switches: readonly string[],
  options: BranchOptions,
): BranchBody {
  const parameters = { ...before?.parameters, ...parametersOf(options.param ?? []) };
  const switched = { ...before?.switches, ...switchesOf(switches) };
  return {
    ...before,
    ...(options.protect === undefined ? {} : { protected: options.protect }),
    ...(options.customisable === undefined ? {} : { customisable: options.customisable }),
    ...(options.cap === undefined ? {} : { priorityCap: options.cap }),
    ...(options.source === undefined ? {} : { source: sourceOf(options.source) }),
    ...(Object.keys(parameters).length === 0 ? {} : { parameters }),
    ...(Object.keys(switched).length === 0 ? {} : { switches: switched }),
  };
}

/** Returns the entry of a branch without the parts of these names; null when nothing is left. */
export function reducedBody(
  before: BranchBody | null,
  names: readonly string[],
): BranchBody | null {
  if (before === null || names.length === 0) return null;
  const { switches = {}, parameters = {}, ...rest } = before;
  const parts = new Map<string, keyof BranchBody>([
    ["protect", "protected"],
    ["customisable", "customisable"],
    ["cap", "priorityCap"],
    ["source", "source"],
  ]);
  const left = { ...rest };
  const [keptSwitches, keptParameters] = [{ ...switches }, { ...parameters }];
  for (const name of names) {
    const part = parts.get(name);
    if (Object.hasOwn(keptSwitches, name)) delete keptSwitches[name];
    else if (Object.hasOwn(keptParameters, name)) delete keptParameters[name];
    else if (part !== undefined && Object.hasOwn(left, part))
      delete left[part as keyof typeof left];
    else throw new UsageError(`this branch has no setting of "${name}"; see: grange branch show`);
  }
  const body: BranchBody = {
    ...left,
    ...(Object.keys(keptSwitches).length === 0 ? {} : { switches: keptSwitches }),
    ...(Object.keys(keptParameters).length === 0 ? {} : { parameters: keptParameters }),
  };
  return Object.keys(body).length === 0 ? null : body;
}

/** `commit`, `pushed`, a directory of the server's machine, or a repository, with `@` before its revision. */
export function sourceOf(written: string): DefinitionsSource {
  if (written === "commit" || written === "pushed") return { kind: written };
  const directory = /^directory:(.+)$/.exec(written)?.[1];
  if (directory !== undefined) return { kind: "directory", path: directory };
  const found = /^repository:(.+?)(?:@([^@/:]+))?$/.exec(written);
  if (found?.[1] === undefined) {
    throw new UsageError(
      `"${written}" is not a source: write commit, pushed, directory:PATH or repository:ADDRESS@REVISION`,
    );
  }
  return { kind: "repository", repository: found[1], rev: found[2] ?? "HEAD" };
}
