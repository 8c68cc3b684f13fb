import type {
  ForgeAccount,
  ForgeExamination,
  ForgeRepository,
  ForgeRepositoryDetail,
} from "#api/forge.ts";
import { printableLine } from "./terminal/printable-text.ts";
import { tableLines } from "./terminal/table.ts";
import { timeText } from "./terminal/time-text.ts";

const short = (sha: string) => sha.slice(0, 10);

export function repositoriesLines(repositories: readonly ForgeRepository[]): string[] {
  if (repositories.length === 0)
    return ["No repository is watched yet. To add one: grange forge add git URL"];
  return tableLines([
    ["name", "forge", "branch", "pull requests", "compared", "address"],
    ...repositories.map((each) => [
      each.name,
      each.kind,
      printableLine(each.defaultBranch),
      String(each.openPulls),
      each.error === null
        ? each.reconciledAt === null
          ? "not yet"
          : timeText(each.reconciledAt)
        : `failed: ${printableLine(each.error)}`,
      printableLine(each.url),
    ]),
  ]);
}

export function repositoryLines(shown: ForgeRepositoryDetail): string[] {
  const policy = Object.entries(shown.policy).map(([name, value]) => [
    `  ${name}`,
    typeof value === "object" ? JSON.stringify(value) : String(value),
  ]);
  const heads = shown.heads
    .filter(({ graph, problem }) => graph !== null || problem !== null)
    .map(({ ref, head, graph, problem }) => [
      `  ${printableLine(ref)}`,
      short(head),
      problem === null ? `graph ${graph?.slice(0, 8)}` : printableLine(problem),
    ]);
  const pulls = shown.pulls.map((pull) => [
    `  ${pull.number}`,
    pull.state,
    short(pull.head),
    standingOf(pull),
    printableLine(pull.title),
  ]);
  const unsent = shown.unsent.map(({ key, attempts, error, failedAt }) => [
    `  ${printableLine(key)}`,
    failedAt === null ? `${attempts} tries` : "given up",
    printableLine(error ?? ""),
  ]);
  const section = (title: string, rows: readonly string[][]) =>
    rows.length === 0 ? [] : [title, ...tableLines(rows)];
  return [
    ...repositoriesLines([shown]),
    ...section("Settings:", policy),
    ...section("Heads:", heads),
    ...section("Pull requests:", pulls),
    ...section("Reports not delivered to the forge yet:", unsent),
  ];
}

function standingOf(pull: ForgeRepositoryDetail["pulls"][number]): string {
  if (pull.problem !== null) return printableLine(pull.problem);
  // The complete id, as `forge approve` requires it.
  if (pull.isHeld) return `waits for approval of ${pull.head}`;
  return pull.graph === null ? "" : `graph ${pull.graph.slice(0, 8)}`;
}

export function findingsLines({ findings }: ForgeExamination): string[] {
  const mark = { ok: "ok", wrong: "WRONG", unknown: "?" } as const;
  return tableLines(
    findings.map(({ what, state, detail }) => [
      mark[state],
      printableLine(what),
      printableLine(detail),
    ]),
  );
}

export function accountLines(accounts: readonly ForgeAccount[]): string[] {
  if (accounts.length === 0)
    return ["No principal is linked with an account: grange forge accounts --link alice=octocat"];
  return tableLines([
    ["principal", "forge", "account", "linked by", "at"],
    ...accounts.map(({ principal, kind, account, linkedBy, linkedAt }) => [
      printableLine(principal),
      kind,
      printableLine(account),
      printableLine(linkedBy),
      timeText(linkedAt),
    ]),
  ]);
}
