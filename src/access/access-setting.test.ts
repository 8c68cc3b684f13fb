import { describe, expect, test } from "vitest";
import { AccessSetting } from "#core/access-setting.ts";
import {
  accessSettingOf,
  grantsOfAnyoneWith,
  isTooOpen,
  settingOfNewFarm,
} from "./access-setting.ts";
import type { Grant } from "./principal.ts";

test.each(AccessSetting.options)("the grants of a farm that is %s say that it is", (setting) => {
  expect(accessSettingOf(grantsOfAnyoneWith(setting))).toBe(setting);
});

test("a farm that lets all read one repository is private", () => {
  const one: Grant = {
    verb: "read",
    repository: "docs",
    branch: "*",
    priorityCap: null,
    top: false,
  };

  expect(accessSettingOf([one])).toBe("private");
});

describe("the setting of a new farm", () => {
  const here = { host: "127.0.0.1", allowOpen: false, close: false };

  test.each([
    ["is open on the machine's own address", here, "open"],
    ["is public there when it is closed", { ...here, close: true }, "public"],
    ["is private where others reach it", { ...here, host: "0.0.0.0" }, "private"],
    ["is private there when it is closed", { ...here, host: "::", close: true }, "private"],
    ["is open where an operator allows it", { ...here, host: "::", allowOpen: true }, "open"],
    ["is the configured one", { ...here, access: "private" }, "private"],
    ["is the configured one elsewhere", { ...here, host: "::", access: "public" }, "public"],
  ] as const)("%s", (_, wanted, setting) => {
    expect(settingOfNewFarm(wanted)).toBe(setting);
  });
});

test.each([
  ["open", "private", true],
  ["public", "private", true],
  ["open", "public", true],
  ["private", "private", false],
  ["private", "public", false],
  ["public", "open", false],
  ["open", undefined, false],
] as const)(
  "a farm that is %s is too open for a server that is to be %s: %s",
  (is, access, answer) => {
    expect(isTooOpen(is, { access })).toBe(answer);
  },
);
