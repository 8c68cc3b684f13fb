import { afterAll, beforeEach, expect, test } from "vitest";
import { servicesText } from "#core/action-services.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { aQueue, aRequest, aWorker, movableClock, never } from "../execution.fixture.ts";
import type { ExecutionQueue } from "../execution-queue.ts";

const db = await freshDb();
afterAll(() => db.close());
beforeEach(() => db.script("truncate execution, worker cascade"));

const hex = (name: string) => name.repeat(64).slice(0, 64);
const key = (name: string) => hex(name).slice(0, 16);
const inImage = (name: string) =>
  aRequest({ platform: { "container-image": `docker://registry.example/i@sha256:${hex(name)}` } });
const worker = (name: string, ...images: string[]) =>
  aWorker(name, { platform: { "grange-images": "oci" }, images: images.map(key) });

async function submit(queue: ExecutionQueue, ...requests: ReturnType<typeof aRequest>[]) {
  await queue.transaction((tx) => queue.submitIn(tx, requests));
}

test("among waiting workers, the one that has the image gets the execution", async () => {
  const queue = await aQueue(db);
  const workers = [worker("first", "b"), worker("second"), worker("third", "a", "b")];
  for (const each of workers) await queue.register(each);
  const claims = workers.map((each) => queue.claim(each, 1, 60_000, never));
  for (const each of workers) await queue.lookAhead(each, 1);

  const request = inImage("a");
  await submit(queue, request);

  const leased = await claims[2];
  expect(leased?.map(({ lease }) => lease.executionId)).toEqual([request.id]);
  await queue.stop();
});

test("the worker that has the images of the services, too, gets the execution", async () => {
  const queue = await aQueue(db);
  const workers = [worker("image", "a"), worker("all", "a", "b"), worker("none")];
  for (const each of workers) await queue.register(each);
  const claims = workers.map((each) => queue.claim(each, 1, 60_000, never));
  for (const each of workers) await queue.lookAhead(each, 1);
  const service = {
    name: "db",
    image: `registry.example/db@sha256:${hex("b")}`,
    environment: {},
    readyTimeoutMs: 1_000,
    writable: [],
  };
  const request = aRequest({
    platform: {
      "container-image": `docker://registry.example/i@sha256:${hex("a")}`,
      "grange-services": servicesText([service, { ...service, name: "other" }]),
    },
  });
  await submit(queue, request);

  expect((await claims[1])?.map(({ lease }) => lease.executionId)).toEqual([request.id]);
  await queue.stop();
});

test("a worker gets executions that use its image first, and delays no other execution by more than 10 s", async () => {
  const clock = movableClock();
  const queue = await aQueue(db, { clock });
  const holder = worker("holder", "a");
  await queue.register(holder);
  const requests = [inImage("b"), inImage("b"), inImage("a"), inImage("a")];
  for (const request of requests) {
    await submit(queue, request);
    clock.pass(10);
  }
  const next = async () => {
    const [one] = await queue.claim(holder, 1, 0, never);
    return requests.findIndex(({ id }) => id === one?.lease.executionId);
  };

  expect(await next()).toBe(2);
  clock.pass(10_000);
  expect(await next()).toBe(0);
  expect(await next()).toBe(1);
  expect(await next()).toBe(3);
  await queue.stop();
});

test("a heartbeat lists the images of a worker; without a list, the images of the last one are kept", async () => {
  const queue = await aQueue(db);
  const [one, other] = [worker("one", "a"), worker("other")];
  for (const each of [one, other]) await queue.register(each);
  await queue.heartbeat({ worker: one, leases: [], draining: false, images: [] });
  await queue.heartbeat({ worker: other, leases: [], draining: false, images: [key("a")] });
  await queue.heartbeat({ worker: other, leases: [], draining: false });
  const claims = [one, other].map((each) => queue.claim(each, 1, 60_000, never));
  for (const each of [one, other]) await queue.lookAhead(each, 1);

  const request = inImage("a");
  await submit(queue, request);

  expect((await claims[1])?.map(({ lease }) => lease.executionId)).toEqual([request.id]);
  await queue.stop();
});
