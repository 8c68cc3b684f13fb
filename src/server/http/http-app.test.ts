import pino from "pino";
import { expect, test } from "vitest";
import { everybody } from "#access/principal.ts";
import type { AllHandlers } from "../handlers/all-handlers.ts";
import { alwaysReady } from "../health/always-ready.fixture.ts";
import type { Farm } from "./farm.ts";
import { httpApp } from "./http-app.ts";

const logger = pino({ level: "silent" });

function headersOf(path: string, isTls: boolean) {
  return appOf({ isTls }).request(path, { headers: { host: "127.0.0.1" } });
}

function appOf({ isTls = false, handlers = {}, log = logger } = {}) {
  const farm = { identify: async () => everybody, keys: async () => [] } as unknown as Farm;
  return httpApp({
    readiness: alwaysReady,
    farm,
    handlers: handlers as AllHandlers,
    logger: log,
    webDir: undefined,
    host: "127.0.0.1",
    isTls,
  });
}

test("answers of the API are kept by nobody on the way, errors neither", async () => {
  for (const path of ["/api/v1/keys", "/api/v1/nothing"]) {
    const { headers } = await headersOf(path, false);
    expect([path, headers.get("cache-control")]).toEqual([path, "no-store"]);
  }
});

test("a farm that speaks TLS has browsers come by TLS only, and one in the clear does not", async () => {
  const overTls = await headersOf("/api/v1/keys", true);
  const inTheClear = await headersOf("/api/v1/keys", false);

  expect(overTls.headers.get("strict-transport-security")).toBe("max-age=31536000");
  expect(inTheClear.headers.get("strict-transport-security")).toBeNull();
});

test.each([
  { given: "build-17.3", answered: /^build-17\.3$/ },
  { given: undefined, answered: /^[0-9a-f-]{36}$/ },
  { given: "two words", answered: /^[0-9a-f-]{36}$/ },
  { given: "x".repeat(129), answered: /^[0-9a-f-]{36}$/ },
])(
  "an answer has the id $given of its request if it is well-formed, else a new one",
  async ({ given, answered }) => {
    const headers = {
      host: "127.0.0.1",
      ...(given === undefined ? {} : { "x-request-id": given }),
    };
    for (const path of ["/api/v1/keys", "/api/v1/nothing"]) {
      const id = (await appOf().request(path, { headers })).headers.get("x-request-id");
      expect(id).toMatch(answered);
    }
  },
);

test("a failure of the server is logged under the id that its answer names", async () => {
  const lines: string[] = [];
  const log = pino({ level: "debug" }, { write: (line: string) => void lines.push(line) });
  const handlers = {
    keys: () => {
      throw new Error("a bug");
    },
  };

  const answer = await appOf({ handlers, log }).request("/api/v1/keys", {
    headers: { host: "127.0.0.1", "x-request-id": "mine" },
  });

  expect(answer.status).toBe(500);
  expect(await answer.json()).toMatchObject({ error: { code: "internal", requestId: "mine" } });
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { msg: "a request failed", requestId: "mine", err: { message: "a bug" } },
    { msg: "a request was answered", requestId: "mine", status: 500, path: "/api/v1/keys" },
  ]);
});
