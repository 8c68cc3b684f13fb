import { expect, test } from "vitest";
import { daemonEndpointFile, duneDatabase, duneSettings } from "./daemon-endpoint-file.ts";

test.each([
  [{ HOME: "/h" }, "/h/.cache/dune/db"],
  [{ HOME: "/h", XDG_CACHE_HOME: "/c" }, "/c/dune/db"],
  [{ HOME: "/h", XDG_CACHE_HOME: "" }, "/h/.cache/dune/db"],
  [{}, undefined],
])("of %j, dune's cache is in %s", (variables, path) => {
  expect(duneDatabase(variables)).toBe(path);
});

test.each([
  [{ HOME: "/h", XDG_RUNTIME_DIR: "/r" }, "/r/dune-cache-daemon/dune-cache-daemon/port"],
  [{ HOME: "/h" }, "/h/.cache/dune/db/runtime/dune-cache-daemon/port"],
  [{}, undefined],
])("of %j, dune looks for its daemon in %s", (variables, path) => {
  expect(daemonEndpointFile(variables)).toBe(path);
});

test("a build's dune gets its own endpoint, or works without one", () => {
  expect(duneSettings({}, "/run/1")).toEqual({
    DUNE_CACHE: "enabled",
    DUNE_CACHE_TRANSPORT: "daemon",
    XDG_RUNTIME_DIR: "/run/1",
  });
  expect(duneSettings({}, undefined)).toEqual({
    DUNE_CACHE: "enabled",
    DUNE_CACHE_TRANSPORT: "direct",
  });
});

test("a disabled cache stays disabled", () => {
  expect(duneSettings({ DUNE_CACHE: "disabled" }, "/run/1")).toEqual({});
});
