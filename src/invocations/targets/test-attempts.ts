import type { InvocationAction } from "#api/invocation.ts";
import type { TestAttempt } from "#api/invocation-targets.ts";

/** The mnemonic of actions that run a test, as Bazel and tools that follow it name them. */
export const testMnemonic = "TestRunner";

/** A test's action with its command. */
export interface TestAction {
  readonly action: InvocationAction;
  readonly command: {
    readonly arguments: readonly string[];
    readonly environment: Readonly<Record<string, string>>;
  };
}

/**
 * Returns the attempts of a test, by run, shard and attempt.
 *
 * The Remote Execution API knows no tests. Bazel gives a test's command its run and shard as variables, and repeats the
 * action for another attempt, because results of failures are not kept.
 *
 * @param actions in the order of their requests
 */
export function testAttempts(actions: readonly TestAction[]): TestAttempt[] {
  const counts = new Map<string, number>();
  return actions
    .filter(({ command }) => !makesReport(command.arguments))
    .map(({ action, command: { environment } }): TestAttempt => {
      const run = Math.max(1, numberIn(environment["TEST_RUN_NUMBER"], 1));
      const shard = numberIn(environment["TEST_SHARD_INDEX"], 0) + 1;
      const key = `${run} ${shard} ${action.configuration}`;
      const attempt = (counts.get(key) ?? 0) + 1;
      counts.set(key, attempt);
      const { configuration, executionId, exitCode, finishedAt, outcome, startedAt, worker } =
        action;
      return {
        run,
        shard,
        // Without shards, Bazel says 0 or 1.
        shards: Math.max(shard, numberIn(environment["TEST_TOTAL_SHARDS"], 1)),
        attempt,
        configuration,
        state: action.state,
        outcome,
        exitCode,
        executionId,
        worker,
        startedAt,
        durationMs:
          startedAt === null || finishedAt === null
            ? null
            : Math.max(0, Date.parse(finishedAt) - Date.parse(startedAt)),
      };
    })
    .toSorted(
      (a, b) =>
        (a.configuration < b.configuration ? -1 : a.configuration > b.configuration ? 1 : 0) ||
        a.run - b.run ||
        a.shard - b.shard ||
        a.attempt - b.attempt,
    );
}

/** Bazel makes `test.xml` by a second action of the same mnemonic, if the test has not written one. */
function makesReport([program = ""]: readonly string[]): boolean {
  return /(?:^|\/)(?:generate-xml\.sh|xml\.exe)$/.test(program);
}

/** Variables come from outside: what is no small number counts as the default. */
function numberIn(text: string | undefined, missing: number): number {
  return text !== undefined && /^\d{1,6}$/.test(text) ? Number(text) : missing;
}
