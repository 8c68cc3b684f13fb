import { expect, test } from "vitest";
import { Fault } from "#core/fault.ts";
import { faultToHttp } from "./fault-to-http.ts";

const withCode = (code: string) => Object.assign(new Error("no"), { code });

test.each([
  { reason: new Fault("resource_exhausted", "the quota"), status: 429 },
  {
    reason: new Fault("resource_exhausted", "the blobs", { cause: withCode("ENOSPC") }),
    status: 507,
  },
  {
    reason: new Fault("internal", "storing", {
      cause: new Fault("resource_exhausted", "the database", { cause: withCode("53100") }),
    }),
    status: 507,
  },
  { reason: withCode("EDQUOT"), status: 507 },
  { reason: new Error("else"), status: 500 },
])("$reason.message: $status", ({ reason, status }) => {
  expect(faultToHttp(reason).status).toBe(status);
});
