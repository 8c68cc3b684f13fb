import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { Fault, messageOf } from "#core/fault.ts";
import { checkReferences } from "./check-references.ts";
import { findingsOf } from "./issue-finding.ts";
import { Suite } from "./suite.ts";
import { suiteLimits } from "./suite-limits.ts";
import { type Finding, type SuiteProblem, SuiteProblems } from "./suite-problems.ts";
import { readSuiteText, type SuiteText } from "./suite-yaml.ts";

export { suiteDigest } from "./suite-digest.ts";

/**
 * Reads an untrusted definition.
 *
 * Throws `SuiteProblems` with all problems; `where` names the definition in the messages. Parsing the result again
 * returns the same.
 */
export function parseSuite(value: unknown, where: string, place?: SuiteText["place"]): Suite {
  const refuse = (findings: readonly Finding[]): never => {
    throw new SuiteProblems(
      where,
      findings.map(
        (finding): SuiteProblem => ({
          ...finding,
          ...(place?.(finding) ?? { line: null, column: null }),
        }),
      ),
    );
  };
  const excess = excessOf(value);
  if (excess !== undefined) refuse([{ path: [], of: "value", message: excess }]);
  const read = Suite.safeParse(value, { reportInput: true });
  if (!read.success) return refuse(read.error.issues.flatMap(findingsOf));
  const findings = checkReferences(read.data);
  if (findings.length > 0) refuse(findings);
  return withFilesOfSections(read.data);
}

/**
 * The same for a YAML file; problems contain line and column. A repository that is given as a path is relative to the
 * file's folder.
 */
export async function readSuiteFile(path: string): Promise<Suite> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    throw new Fault("not_found", `the suite cannot be read: ${messageOf(cause)}`, { cause });
  }
  const { value, place } = readSuiteText(path, text);
  return withRepositoryFrom(parseSuite(value, path, place), dirname(resolve(path)));
}

/** Checked before any recursive function processes it. */
function excessOf(value: unknown): string | undefined {
  let level: unknown[] = [value];
  let [parts, bytes] = [0, 0];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > suiteLimits.depth)
      return `maps and lists are nested more than ${suiteLimits.depth} levels deep`;
    parts += level.length;
    if (parts > suiteLimits.parts) return `has more than ${suiteLimits.parts} parts`;
    const next: unknown[] = [];
    for (const part of level) {
      if (typeof part === "string") bytes += Buffer.byteLength(part);
      if (typeof part !== "object" || part === null) continue;
      if (Object.hasOwn(part, "__proto__")) return '"__proto__" cannot be a key';
      if (!Array.isArray(part)) for (const key of Object.keys(part)) bytes += key.length;
      for (const inner of Object.values(part)) next.push(inner);
    }
    if (bytes > suiteLimits.bytes) return `is larger than ${suiteLimits.bytes / 1024} KiB`;
    level = next;
  }
  return undefined;
}

function withFilesOfSections(suite: Suite): Suite {
  const filled: Suite = { ...suite };
  for (const name of ["compile", "runtime", "toolchain"] as const) {
    const section = suite[name];
    if (section === undefined) continue;
    filled[name] = {
      ...section,
      files: {},
      benchmarks: Object.fromEntries(
        Object.entries(section.benchmarks).map(([benchmark, defined]) => [
          benchmark,
          { ...defined, files: { ...section.files, ...defined.files } },
        ]),
      ),
    };
  }
  return filled;
}

function withRepositoryFrom(suite: Suite, folder: string): Suite {
  const { artifacts } = suite;
  if (artifacts.from !== "git" || !/^\.{1,2}(\/|$)/.test(artifacts.repository)) return suite;
  const repository = resolve(folder, artifacts.repository);
  return { ...suite, artifacts: { ...artifacts, repository } };
}
