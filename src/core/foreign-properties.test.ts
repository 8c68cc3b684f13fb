import { expect, test } from "vitest";
import { problemOfForeignProperties } from "./foreign-properties.ts";
import { requirementsOf } from "./platform.ts";

test.each([
  [{ dockerPrivileged: "true" }, "dockerPrivileged=true is refused: no action has privileges"],
  [{ dockerRunAsRoot: "True" }, "dockerRunAsRoot=True is refused"],
  [{ dockerNetwork: "host" }, "dockerNetwork=host is refused"],
  [{ dockerSiblingContainers: "1" }, "dockerSiblingContainers=1 is refused"],
  [{ dockerAddCapabilities: "SYS_ADMIN" }, "dockerAddCapabilities=SYS_ADMIN is refused"],
  [
    { "init-dockerd": "true" },
    "init-dockerd=true is refused: actions have no access to a Docker engine",
  ],
  [{ "include-secrets": "true" }, "include-secrets=true is refused: only jobs of graphs"],
  [{ "workload-isolation-type": "firecracker" }, "is refused: actions run in a sandbox"],
])("%o is refused with the reason", (platform, why) => {
  expect(problemOfForeignProperties(platform)).toContain(why);
});

test("values that change nothing are accepted, and no worker needs to offer them", () => {
  const platform = {
    dockerPrivileged: "false",
    dockerNetwork: "off",
    dockerRunAsRoot: "",
    dockerUser: "root",
    "runner-user": "builder",
    dockerShmSize: "1g",
    "cache-silo-key": "2026-01",
    EstimatedMemory: "2GB",
    "recycle-runner": "true",
    "workload-isolation-type": "podman",
    "init-dockerd": "false",
  };

  expect(problemOfForeignProperties(platform)).toBeUndefined();
  expect(requirementsOf(platform)).toEqual({});
});

test("an image needs a worker that runs images, whatever its name is", () => {
  expect(requirementsOf({ "container-image": "docker://debian:12" })).toEqual({
    "grange-images": "oci",
  });
  for (const none of ["", "none"]) expect(requirementsOf({ "container-image": none })).toEqual({});
});
