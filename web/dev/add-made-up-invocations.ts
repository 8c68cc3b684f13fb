import type { FakeFarm } from "./fake-farm.ts";
import {
  countsOfActions,
  madeUpActions,
  madeUpExecution,
  madeUpInvocation,
} from "./made-up-invocations.ts";
import { sizedExecution } from "./made-up-size-classes.ts";

/** Invocations of every kind, and an execution that waits. */
export function addMadeUpInvocations(farm: FakeFarm, now: Date): void {
  const ago = (minutes: number) => new Date(now.getTime() - minutes * 60_000).toISOString();
  const failed = madeUpInvocation("failed-one", ago(9));
  const build = failed.detail.build;
  const events = failed.detail.events;
  if (build === null || events === null) throw new Error("the made-up invocation tells of itself");
  const passed = {
    state: "succeeded" as const,
    build: { ...build, exitCode: 0, exitName: "SUCCESS" },
    events: { ...events, failure: null },
  };

  const startedAt = ago(1);
  const waiting = madeUpActions("waiting-one", startedAt, 12).map((action) => ({
    ...action,
    state: "queued" as const,
    startedAt: null,
    finishedAt: null,
    worker: null,
    outcome: null,
    exitCode: null,
    executionId: action.executionId ?? null,
  }));
  const queued = waiting.filter(({ executionId }) => executionId !== null);
  const sentence = "waits for a worker with size=large: workers offer size=small";
  const queue = madeUpInvocation(
    "waiting-one",
    startedAt,
    {
      state: "running",
      counts: countsOfActions(queued),
      waiting: `${queued.length} actions are queued, and the first of them ${sentence}`,
      build: { ...build, exitCode: null, exitName: null, patterns: ["//..."], user: "bram" },
      events: {
        ...events,
        complete: false,
        failure: null,
        targets: [],
        profile: null,
        metrics: {},
      },
    },
    queued,
  );

  farm.invocations.push(
    queue,
    failed,
    madeUpInvocation("large-one", ago(34), passed, madeUpActions("large-one", ago(34), 10_000)),
    madeUpInvocation(
      "recc-1",
      ago(50),
      {
        project: "team/app",
        state: "over",
        tool: { name: "recc", version: "1.4.30" },
        principal: "ci",
        build: null,
        events: null,
      },
      madeUpActions("recc-1", ago(50), 2),
    ),
    madeUpInvocation("cancelled-one", ago(70), { ...passed, state: "cancelled" }),
  );
  for (let n = 0; n < 60; n++) {
    const id = `past-${n}`;
    farm.invocations.push(madeUpInvocation(id, ago(100 + n * 31), passed));
  }

  const [first] = queued;
  if (first?.executionId) {
    const reason = {
      kind: "capacity-none" as const,
      missing: { property: "size", asked: "large", offered: ["small"] },
      silent: 0,
      draining: 0,
      lastSeenAt: null,
      sentence,
      advice: "start a worker that offers size=large, or change what the action asks for",
    };
    const changes = { waiting: reason, outputs: [], usage: null, attempts: [], leasedAt: null };
    farm.executions.set(first.executionId, madeUpExecution(queue, first, changes));
  }
  const [linked] = failed.actions.filter(({ executionId }) => executionId !== null);
  if (linked !== undefined) {
    farm.executions.set(
      sizedExecution,
      madeUpExecution(failed, linked, { id: sizedExecution, sizeClass: 2 }),
    );
  }
  farm.append(
    "invocations",
    "failed-one",
    1,
    "\u001b[32mINFO:\u001b[0m Analyzed 4 targets\n\u001b[31m\u001b[1mFAIL: \u001b[0m//lib/store:store_test (see test.log)\n<script>document.title = 'owned'</script>\n\u001b[32mINFO:\u001b[0m Build completed, 1 test FAILED\n",
    true,
  );
  for (const { executionId } of failed.actions) {
    if (executionId === null) continue;
    farm.append("executions", `${executionId} stdout`, 1, "compiled\n", true);
    farm.append(
      "executions",
      `${executionId} stderr`,
      1,
      "\u001b[33mwarning:\u001b[0m unused\n",
      true,
    );
  }
}
