import { expect, test } from "vitest";
import { platformGroups } from "./platform-groups.ts";
import { platformName } from "./platform-name.ts";

test.each([
  [{ OSFamily: "linux", ISA: "x86-64" }, "ISA=x86-64, OSFamily=linux"],
  [{}, "any"],
  [{ a: "1, b=2" }, 'a="1, b=2"'],
  [{ image: "docker://a b" }, 'image="docker://a b"'],
])("the platform %j is called %s", (platform, name) => {
  expect(platformName(platform)).toBe(name);
});

test("workers belong to the declared platform with the most of their properties, or form their own", () => {
  const groups = platformGroups([], [{ OSFamily: "linux" }, { OSFamily: "linux", gpu: "yes" }]);
  const home = (platform: Record<string, string>) => groups.ofWorker(platform).name;

  expect(home({ OSFamily: "Linux", rack: "7" })).toBe("OSFamily=linux");
  expect(home({ OSFamily: "linux", gpu: "yes", rack: "7" })).toBe("OSFamily=linux, gpu=yes");
  expect(home({ OSFamily: "macos" })).toBe("OSFamily=macos");
});

test("executions belong to the simplest workers that could have run them", () => {
  const groups = platformGroups([{ OSFamily: "linux", gpu: "yes" }, { OSFamily: "linux" }], []);
  const home = (asked: Record<string, string>) => groups.ofRequirements(asked).name;

  expect(home({ OSFamily: "linux", "max-size-class": "2" })).toBe("OSFamily=linux");
  expect(home({ gpu: "yes" })).toBe("OSFamily=linux, gpu=yes");
  expect(home({ OSFamily: "plan9" })).toBe("OSFamily=plan9");
});
