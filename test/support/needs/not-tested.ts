import type { Lack } from "./needs.ts";

/** A skipped test. */
interface Skipped {
  readonly title: string;
  /** Empty if no reason is known. */
  readonly lacks: readonly Lack[];
}

/** Returns the lines of the summary at the end of a run: the skipped tests, the reasons, and the remedies. */
export function notTestedLines(skipped: readonly Skipped[]): string[] {
  const lacking = skipped.filter(({ lacks }) => lacks.length > 0);
  if (lacking.length === 0) return [];
  const counts = new Map<string, number>();
  for (const { lacks } of lacking) {
    for (const { name, missing } of lacks) {
      const line = `  ${name} (${missing})`;
      counts.set(line, (counts.get(line) ?? 0) + 1);
    }
  }
  const remedies = lacking.flatMap(({ lacks }) => lacks.map(({ remedy }) => remedy));
  const packages = remedies.flatMap((remedy) => (remedy.kind === "debian" ? remedy.packages : []));
  const commands = remedies.flatMap((remedy) =>
    remedy.kind === "command" ? [remedy.command] : [],
  );
  return [
    `NOT TESTED on this machine: ${tests(lacking.length)}, which need`,
    ...[...counts].map(([line, count]) => `${line}: ${tests(count)}`).sort(),
    ...(packages.length === 0
      ? []
      : [`To run more of them: apt-get install ${sorted(packages).join(" ")}`]),
    ...sorted(commands).map((command) => `To run more of them: ${command}`),
    ...(remedies.some(({ kind }) => kind === "root")
      ? ["To run more of them: run the tests as root"]
      : []),
  ];
}

function tests(count: number): string {
  return count === 1 ? "1 test" : `${count} tests`;
}

function sorted(texts: readonly string[]): string[] {
  return [...new Set(texts)].sort();
}
