import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { digestOf } from "#cas/digest-of.ts";
import { protectedDomain } from "#core/trust-domain.ts";
import { never } from "./execution.fixture.ts";
import { ExecutionId } from "./execution.ts";
import { executionWatch } from "./execution-watch.ts";
import { endedView } from "./finishing/ended-view.ts";
import type { ExecutionView } from "./read-executions.store.ts";

test("a follower gets an announced end without another read", async () => {
  const queued = aView();
  let reads = 0;
  const watch = executionWatch(async () => {
    reads++;
    return [queued];
  });
  const news = watch.follow(queued.id, never);
  expect((await news.next()).value).toBe(queued);

  const next = news.next();
  await new Promise((resolve) => setImmediate(resolve));
  const end = anEnd(queued);
  watch.ended([end]);

  expect((await next).value).toBe(end);
  expect((await news.next()).done).toBe(true);
  expect(reads).toBe(1);
});

test("an end that is announced during a read is not lost", async () => {
  const queued = aView();
  let answer = () => {};
  const watch = executionWatch(async () => {
    await new Promise<void>((resolve) => (answer = resolve));
    return [queued];
  });
  const waiting = watch.waitForEnd(queued.id, never);
  await new Promise((resolve) => setImmediate(resolve));

  const end = anEnd(queued);
  watch.ended([end]);
  answer();

  expect(await waiting).toBe(end.finished);
});

test("the client that submitted it gets its state and its end without a read", async () => {
  const queued = aView();
  const watch = executionWatch(async () => {
    throw new Error("nobody need look");
  });
  const news = watch.follow(queued.id, never, queued);

  expect((await news.next()).value).toBe(queued);
  const next = news.next();
  await new Promise((resolve) => setImmediate(resolve));
  const end = anEnd(queued);
  watch.ended([end]);

  expect((await next).value).toBe(end);
});

test.each(["changed", "ended"] as const)(
  "an execution that another server %s before anybody listened here is read",
  async (how) => {
    const queued = aView();
    const end = anEnd(queued);
    const watch = executionWatch(async () => [end]);

    // The notification of the end arrives before the answer to the commit of the submission.
    if (how === "changed") watch.changed([queued.id]);
    else watch.ended([end]);

    expect((await watch.follow(queued.id, never, queued).next()).value).toBe(end);
  },
);

function aView(): ExecutionView {
  const queuedAt = new Date();
  return {
    id: ExecutionId.parse(randomUUID()),
    project: "p",
    actionDigest: digestOf(Buffer.from("action")),
    attempt: 0,
    cancelRequested: false,
    cancelConfirmed: false,
    queuedAt,
    state: { kind: "queued", queuedAt },
    finished: undefined,
  };
}

function anEnd({ id, project, actionDigest, queuedAt }: ExecutionView): ExecutionView {
  return endedView(
    {
      id,
      project,
      actionDigest,
      queuedAt,
      domain: protectedDomain,
      invocation: "i",
      doNotCache: false,
      attempt: 1,
      worker: "w",
      leasedAt: queuedAt,
      startedAt: queuedAt,
      finishedAt: queuedAt,
      outcome: "succeeded",
      exitCode: 0,
      result: undefined,
      message: "",
      missingInputs: [],
      usage: undefined,
    },
    false,
  );
}
