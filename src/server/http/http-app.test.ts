import pino from "pino";
import { expect, test } from "vitest";
import { everybody } from "#access/principal.ts";
import type { AllHandlers } from "../handlers/all-handlers.ts";
import { alwaysReady } from "../health/always-ready.fixture.ts";
import type { Farm } from "./farm.ts";
import { httpApp } from "./http-app.ts";

const logger = pino({ level: "silent" });

function headersOf(path: string, isTls: boolean) {
  const farm = { identify: async () => everybody, keys: async () => [] } as unknown as Farm;
  const app = httpApp({
    readiness: alwaysReady,
    farm,
    handlers: {} as AllHandlers,
    logger,
    webDir: undefined,
    host: "127.0.0.1",
    isTls,
  });
  return app.request(path, { headers: { host: "127.0.0.1" } });
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
