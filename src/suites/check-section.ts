import type { Section } from "#core/test-case.ts";
import { checkPattern, checkWords, findingAt, known } from "./finding.ts";
import type { Benchmark, SuiteSection } from "./suite.ts";
import { suiteLimits } from "./suite-limits.ts";
import type { Finding } from "./suite-problems.ts";

/** Returns the problems within a section. */
export function checkSection(
  name: Section,
  section: SuiteSection,
  backends: readonly string[],
): Finding[] {
  const { benchmarks, profiles, scenarios } = section;
  const patches = new Set(
    Object.values(benchmarks).flatMap(({ patches: own }) => Object.keys(own)),
  );
  const found: Finding[] = [
    ...(["benchmarks", "profiles", "scenarios"] as const).flatMap((key) =>
      checkWords([name, key], section[key]),
    ),
    ...checkCommand([name, "command"], section.command),
    ...checkCommand([name, "prepare"], section.prepare ?? []),
    ...(section.mustPrint === undefined
      ? []
      : checkPattern([name, "mustPrint"], section.mustPrint)),
  ];
  if (Object.keys(benchmarks).length === 0)
    found.push(findingAt([name, "benchmarks"], "names none; name one, or leave the section out"));
  const names = Object.values(profiles);
  if (names.length > 0 && names.every((profile) => !profile.default))
    found.push(findingAt([name, "profiles"], "by default none is used; one must be"));
  for (const [profile, { args }] of Object.entries(profiles))
    found.push(...checkCommand([name, "profiles", profile, "args"], args));
  for (const [scenario, { args, patch }] of Object.entries(scenarios)) {
    const path = [name, "scenarios", scenario];
    found.push(...checkCommand([...path, "args"], args));
    if (patch !== undefined && !patches.has(patch))
      found.push(findingAt([...path, "patch"], `no benchmark of the section has a patch ${patch}`));
  }
  const used = new Set(Object.values(scenarios).flatMap(({ patch }) => patch ?? []));
  for (const [benchmark, defined] of Object.entries(benchmarks)) {
    const path = [name, "benchmarks", benchmark];
    if (name !== "compile" && defined.set !== 0)
      found.push(findingAt([...path, "set"], "only the compile section is split into sets"));
    found.push(
      ...checkPatches([...path, "patches"], defined, used),
      ...checkCommand([...path, "command"], defined.command ?? []),
      ...checkCommand([...path, "args"], defined.args),
      ...checkWords([...path, "patches"], defined.patches),
      ...checkNames([...path, "profiles"], defined.profiles, profiles, "profile"),
      ...checkNames([...path, "scenarios"], defined.scenarios, scenarios, "scenario"),
      ...checkNames(
        [...path, "backends"],
        defined.backends,
        Object.fromEntries(backends.map((backend) => [backend, true])),
        "backend",
      ),
    );
    if (Object.keys(defined.files).length + Object.keys(section.files).length > suiteLimits.files)
      found.push(
        findingAt([...path, "files"], `are too many; at most ${suiteLimits.files} are taken`),
      );
  }
  return found;
}

function checkNames(
  path: readonly PropertyKey[],
  named: readonly string[] | undefined,
  existing: Readonly<Record<string, unknown>>,
  what: string,
): Finding[] {
  if (named?.length === 0) return [findingAt(path, `names none; leave it out for every ${what}`)];
  return (named ?? []).flatMap((name, index) =>
    Object.hasOwn(existing, name)
      ? []
      : [
          findingAt(
            [...path, index],
            `there is no ${what} ${name}; ${known(existing, `the ${what}s`)}`,
          ),
        ],
  );
}

function checkPatches(
  path: readonly PropertyKey[],
  { patches }: Benchmark,
  used: ReadonlySet<string>,
): Finding[] {
  const found: Finding[] = [];
  if (Object.keys(patches).length > suiteLimits.patches)
    found.push(findingAt(path, `are too many; at most ${suiteLimits.patches} are taken`));
  for (const [name, { append, replace }] of Object.entries(patches)) {
    if ((append === undefined) === (replace === undefined))
      found.push(findingAt([...path, name], "must have either append or replace"));
    if (!used.has(name))
      found.push({ path: [...path, name], of: "key", message: "no scenario applies this patch" });
  }
  return found;
}

/** An argument that is a placeholder, or begins with one as a path does, must use one that has a value. */
function checkCommand(path: readonly PropertyKey[], args: readonly string[]): Finding[] {
  return args.flatMap((arg, index) => {
    const hole = /^\{([A-Za-z]+)\}(?:$|\/)/.exec(arg)?.[1];
    if (hole === undefined || ["artifact", "source", "out", "state"].includes(hole)) return [];
    if (hole === "tool" && arg === "{tool}") return [];
    return [
      findingAt(
        [...path, index],
        `{${hole}} has no value; placeholders are {tool} alone, {artifact}, {source}, {out} and {state}`,
      ),
    ];
  });
}
