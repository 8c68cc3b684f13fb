import { create, toBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { servicesText } from "#core/action-services.ts";
import { protectedDomain } from "#core/trust-domain.ts";
import {
  ActionSchema,
  CommandSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { loginsOfLease } from "./logins-of-lease.ts";

const scope = "0".repeat(32);
const credentials = new Map([
  ["ghcr.io", { user: "me", password: "first" }],
  ["quay.io", { user: "me", password: "second" }],
  ["docker.io", { user: "me", password: "third" }],
]);
const loginOf = async () => ({ scope, credentials });
const puller = { project: "web", domain: protectedDomain };
const command = toBinary(CommandSchema, create(CommandSchema, { arguments: ["x"] }));
const actionWith = (platform: Readonly<Record<string, string>>) =>
  toBinary(
    ActionSchema,
    create(ActionSchema, {
      platform: {
        properties: Object.entries(platform).map(([name, value]) => ({ name, value })),
      },
    }),
  );
const image = { "container-image": "docker://ghcr.io/me/tools:v1" };
const services = {
  "grange-services": servicesText([
    { name: "db", image: "postgres:18", environment: {}, readyTimeoutMs: 1_000, writable: [] },
  ]),
};
const hostsFor = async (platform: Readonly<Record<string, string>>) =>
  (
    await loginsOfLease({ action: actionWith(platform), command }, puller, {
      isPrivate: true,
      loginOf,
    })
  ).map(({ host }) => host);

test("a lease has the logins at the registries of its images, and no others", async () => {
  expect(await hostsFor(image)).toEqual(["ghcr.io"]);
  expect(await hostsFor(services)).toEqual(["docker.io"]);
  expect(await hostsFor({ ...image, ...services })).toEqual(["ghcr.io", "docker.io"]);
  expect(await hostsFor({ OSFamily: "linux" })).toEqual([]);
  expect(await hostsFor({ "container-image": "docker://No Such" })).toEqual([]);
});

test("over a line that others can read, a login is not sent", async () => {
  const way = { isPrivate: false, loginOf };
  const action = actionWith(image);

  await expect(loginsOfLease({ action, command }, puller, way)).rejects.toMatchObject({
    code: "unavailable",
  });
  const none = { isPrivate: false, loginOf: async () => undefined };
  expect(await loginsOfLease({ action, command }, puller, none)).toEqual([]);
});
