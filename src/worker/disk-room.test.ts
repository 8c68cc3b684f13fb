import { expect, test } from "vitest";
import { Fault } from "#core/fault.ts";
import { isDiskFull } from "./disk-room.ts";

const withCode = (code: string) => Object.assign(new Error(code), { code });

test.each(["ENOSPC", "EDQUOT", "EROFS", "EIO", "EMFILE", "ENFILE"])(
  "%s is a failure of the worker's machine, also as a cause",
  (code) => {
    expect(isDiskFull(withCode(code))).toBe(true);
    expect(isDiskFull(new Fault("internal", "it failed", { cause: withCode(code) }))).toBe(true);
  },
);

test.each(["ENOENT", "EACCES"])("%s is a failure of the action", (code) => {
  expect(isDiskFull(withCode(code))).toBe(false);
});
