import { expect, test } from "vitest";
import { problemOfDockerProperties } from "./docker-properties.ts";
import { requirementsOf } from "./platform.ts";

test.each([
  [{ dockerPrivileged: "true" }, "dockerPrivileged=true is refused: no action has privileges"],
  [{ dockerRunAsRoot: "True" }, "dockerRunAsRoot=True is refused"],
  [{ dockerNetwork: "host" }, "dockerNetwork=host is refused"],
  [{ dockerSiblingContainers: "1" }, "dockerSiblingContainers=1 is refused"],
  [{ dockerAddCapabilities: "SYS_ADMIN" }, "dockerAddCapabilities=SYS_ADMIN is refused"],
])("%o is refused with the reason", (platform, why) => {
  expect(problemOfDockerProperties(platform)).toContain(why);
});

test("values that change nothing are accepted, and no worker needs to offer them", () => {
  const platform = {
    dockerPrivileged: "false",
    dockerNetwork: "off",
    dockerRunAsRoot: "",
    dockerUser: "root",
    "runner-user": "builder",
    dockerShmSize: "1g",
  };

  expect(problemOfDockerProperties(platform)).toBeUndefined();
  expect(requirementsOf(platform)).toEqual({});
});

test("an image needs a worker that runs images, whatever its name is", () => {
  expect(requirementsOf({ "container-image": "docker://debian:12" })).toEqual({
    "grange-images": "oci",
  });
  for (const none of ["", "none"]) expect(requirementsOf({ "container-image": none })).toEqual({});
});
