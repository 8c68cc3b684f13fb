import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fromBinary } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ExecutionDetail } from "#api/execution.ts";
import { buildImage, pushImage, tarOf } from "#images/image-builder.fixture.ts";
import {
  ActionSchema,
  ExecuteOperationMetadataSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { sandboxNeeds } from "#worker/sandbox-needs.fixture.ts";
import { buildTool } from "../build-tools/conformance/build-tool.ts";
import { foreignClient } from "../build-tools/conformance/foreign-client.ts";
import { textOf } from "../build-tools/conformance/foreign-digest.ts";
import { asOrdinaryUser } from "../isolation/sandbox-attacks/attack-needs.ts";
import {
  asRegistryUser,
  type DockerRegistry,
  registryNeed,
  registryUser,
  startDockerRegistry,
} from "../support/docker-registry.ts";
import { type Farm, startFarm } from "../support/farm.ts";
import { root } from "../support/needs/machine-needs.ts";
import { needs } from "../support/needs/needs.ts";
import { findProgram, programs } from "../support/needs/program.ts";
import { postgresImage } from "../support/postgres-image.ts";
import { type SampleRepository, sampleRepository } from "../support/sample-repository.ts";

/** A small image of BusyBox, whose version is a file. */
function imageOf(version: string) {
  const busybox = readFileSync(findProgram("busybox") ?? "/dev/null");
  return buildImage(
    [
      tarOf([
        { path: "bin/busybox", content: busybox, mode: 0o755 },
        ...["sh", "cat", "id", "echo"].map((name) => ({
          path: `bin/${name}`,
          type: "2",
          target: "busybox",
        })),
      ]),
      tarOf([{ path: "etc/version", content: `${version}\n` }]),
    ],
    { Env: ["PATH=/bin"] },
  );
}

const definitions = (host: string, privateHost: string) => `
version: 1
jobs:
  plain:
    image: ${host}/tests/tools:v1
    platform: { who: root }
    inputs: [input]
    commands: cat /etc/version input
  ordinary:
    image: ${host}/tests/tools:v1
    platform: { who: ordinary }
    inputs: [input]
    commands: cat /etc/version input; id -u
  shared:
    image: ${host}/tests/tools:v1
    platform: { who: root }
    inputs: []
    chunks: { items: [a] }
    commands: cat /etc/version "$GRANGE_ITEMS_FILE"
  database:
    services: { db: ${host}/tests/postgres:18 }
    platform: { who: root }
    inputs: [query.mjs]
    commands: node query.mjs
  private:
    image: ${privateHost}/tests/tools:v1
    platform: { who: root }
    inputs: []
    commands: cat /etc/version
  image:
    inputs: []
    outputs: image
    network: true
    platform: { who: root }
    commands:
      - mkdir -p root/etc && echo built > root/etc/version
      - skopeo --insecure-policy copy --quiet --src-tls-verify=false docker://${host}/tests/tools:base oci:image:v1
      - umoci insert --rootless --image image:v1 root/etc/version /etc/version
      - umoci config --image image:v1 --config.label made-by=grange
  push:
    inputs: []
    needs: [image]
    network: true
    secrets: PUSH_LOGIN
    platform: { who: root }
    commands: skopeo --insecure-policy copy --quiet --authfile "$GRANGE_SECRETS/PUSH_LOGIN" --dest-tls-verify=false oci:image:v1 docker://${privateHost}/tests/built:v1
  built:
    inputs: []
    needs: { push: { outputs: [] } }
    image: ${privateHost}/tests/built:v1
    platform: { who: root }
    commands: cat /etc/version
`;

/** Asks the database for a number by PostgreSQL's protocol: start, then one simple query. */
const query = `
import { connect } from "node:net";
const socket = connect(5432, "db");
const message = (type, body) => {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
};
const version = Buffer.from([0, 3, 0, 0]);
socket.write(message("", Buffer.concat([version, Buffer.from("user\\0postgres\\0\\0")])));
socket.write(message("Q", Buffer.from("select 40 + 2 as answer\\0")));
socket.write(message("X", Buffer.alloc(0)));
let answer = "";
for await (const part of socket) answer += part.toString("latin1");
console.log(answer.includes("answer") && /\\0\\x0242C/.test(answer) ? "the database said 42" : answer);
`;

const sandboxes = await sandboxNeeds(["bubblewrap"]);
const imageTools = programs("tools that build images", {
  programs: ["umoci", "skopeo"],
  packages: ["umoci", "skopeo"],
});
const setpriv = programs("a worker of another user", {
  programs: ["setpriv"],
  packages: ["util-linux"],
});

describe(
  "jobs in container images, from commit to green",
  needs(registryNeed, root, setpriv, ...sandboxes.map(({ need }) => need)),
  () => {
    let registry: DockerRegistry;
    /** Everything in it needs a password. */
    let closed: DockerRegistry;
    let farm: Farm;
    let repository: SampleRepository;
    const first = imageOf("one");

    beforeAll(async () => {
      registry = await startDockerRegistry();
      await pushImage(registry.origin, "tests/tools", "v1", first);
      await pushImage(registry.origin, "tests/postgres", "18", postgresImage());
      closed = await startDockerRegistry({ isPrivate: true });
      await pushImage(closed.origin, "tests/tools", "v1", imageOf("private"), asRegistryUser);
      repository = await sampleRepository({
        ".grange/farm.yml": definitions(registry.host, closed.host),
        input: "from the commit\n",
        "query.mjs": query,
      });
      const env = { GRANGE_PRIVATE_HOSTS: "127.0.0.1" };
      const registries = `${registry.origin},${closed.origin}`;
      farm = await startFarm({
        keepsCluster: true,
        workers: 0,
        env: {
          ...env,
          GRANGE_REGISTRIES: registries,
          GRANGE_PLATFORM_ALIASES: "runner=who",
        },
      });
      chmodSync(farm.dataDir, 0o711);
      mkdirSync(join(farm.dataDir, "ordinary"));
      chmodSync(join(farm.dataDir, "ordinary"), 0o777);
      // Another user may be unable to read the checkout, such as one in the home directory of root.
      const file = join(farm.dataDir, "grange-worker.mjs");
      copyFileSync("dist/grange-worker.mjs", file);
      const start = (who: string, within: readonly string[]) =>
        farm.startWorker({
          name: who,
          within,
          file,
          data: who,
          env: {
            ...env,
            GRANGE_WORKER_REGISTRIES: registries,
            GRANGE_WORKER_PLATFORM: `who=${who}`,
          },
        });
      start("root", []);
      start("ordinary", asOrdinaryUser);
    });
    afterAll(async () => {
      await farm?.stop();
      await registry?.stop();
      await closed?.stop();
      await repository?.remove();
    });

    const detail = async (id: string) =>
      (await (await fetch(`${farm.url}/api/v1/executions/${id}`)).json()) as ExecutionDetail;
    const imageOfRun = async (graph: string, job: string) => {
      const [run] = (await farm.job(graph, job)).runList;
      return (await detail(run?.executionId ?? "")).command?.platform["container-image"];
    };
    /** Sets a secret with the login at the closed registry. */
    const setLogin = async (name: string, place: string) => {
      const { user, password } = registryUser;
      const login = { auths: { [closed.host]: { auth: base64(`${user}:${password}`) } } };
      const value = base64(JSON.stringify(login));
      const answer = await fetch(`${farm.url}/api/v1/secrets`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ name, repository: place, branch: "*", value }),
      });
      expect(answer.status).toBe(200);
    };
    const submit = (select: string) => farm.submit({ repository: repository.path, select });
    const batches = async (graph: string) =>
      (await farm.job(graph, "shared")).chunks?.batches ?? [];

    test("the jobs run in the image, as root and as an ordinary user, and the actions name its digest", async () => {
      const { id } = await submit("plain | ordinary | shared");

      expect((await farm.untilOver(id)).state).toBe("succeeded");
      expect(await farm.log(id, "plain")).toContain("one\nfrom the commit\n");
      expect(await farm.log(id, "ordinary")).toContain("one\nfrom the commit\n1000\n");
      const pinned = `docker://${registry.host}/tests/tools@${first.digest}`;
      expect(await imageOfRun(id, "plain")).toBe(pinned);
      expect(await imageOfRun(id, "ordinary")).toBe(pinned);
      const [batch] = await batches(id);
      expect((await detail(batch?.executionId ?? "")).command?.platform["container-image"]).toBe(
        pinned,
      );
    });

    test("a job has PostgreSQL as a service, and its log is an artifact of the run", async () => {
      const { id } = await submit("database");

      expect((await farm.untilOver(id)).state).toBe("succeeded");
      expect(await farm.log(id, "database")).toContain("the database said 42");
      const log = await fetch(
        `${farm.url}/api/v1/graphs/${id}/jobs/database/runs/1/outputs/.grange-services/db.log`,
      );
      expect(await log.text()).toContain("database system is ready to accept connections");
    });

    test("when the tag names another image, the jobs run again in that one", async () => {
      const second = imageOf("two");
      await pushImage(registry.origin, "tests/tools", "v1", second);
      // The server keeps the digest of a tag for a minute.
      farm.server.signal("SIGTERM");
      await farm.restartServer();

      const { id } = await submit("plain | ordinary | shared");

      expect((await farm.untilOver(id)).state).toBe("succeeded");
      expect(await farm.log(id, "plain")).toContain("two\nfrom the commit\n");
      expect(await imageOfRun(id, "plain")).toContain(second.digest);
      expect((await batches(id)).map(({ cached }) => cached)).toEqual([false]);
    });

    test("an action of a build tool runs under the digest of its tag, and is found again by the tag", async () => {
      const client = foreignClient(farm.url);
      try {
        const tool = buildTool(client);
        const name = `docker://${registry.host}/tests/tools:v1`;
        const properties = [
          { name: "container-image", value: name },
          // The operator says that it means `who`.
          { name: "runner", value: "root" },
        ];
        const action = await tool.putAction({
          script: "cat /etc/version",
          action: { platform: { properties } },
        });

        const { result, operation } = await tool.ran(tool.execute(action));
        const again = await tool.ran(tool.execute(action));
        const cached = await tool.cached(action);

        expect(textOf(result.stdoutRaw)).toBe("two\n");
        expect(again.response.cachedResult).toBe(true);
        expect(cached.stdoutRaw).toEqual(result.stdoutRaw);
        const metadata =
          operation.metadata && anyUnpack(operation.metadata, ExecuteOperationMetadataSchema);
        const ran = await tool.read(metadata?.actionDigest);
        const [image] =
          fromBinary(ActionSchema, ran ?? new Uint8Array()).platform?.properties ?? [];
        expect(image?.value).toBe(`docker://${registry.host}/tests/tools@${imageOf("two").digest}`);
        await expect(
          tool.run({
            script: "true",
            action: {
              platform: {
                properties: [{ name: "container-image", value: name.replace("v1", "v0") }],
              },
            },
          }),
        ).rejects.toThrow("there is no image");
      } finally {
        client.close();
      }
    });

    test("a job runs in a private image only with the login of its project, which nobody can read afterwards", async () => {
      const refused = await submit("private");
      expect((await farm.untilOver(refused.id)).state).toBe("failed");
      const [run] = (await farm.job(refused.id, "private")).runList;
      expect(run?.message).toContain("REGISTRY_LOGIN");

      const { user, password } = registryUser;
      await setLogin("REGISTRY_LOGIN", "default");

      const { id } = await submit("private");
      expect((await farm.untilOver(id)).state).toBe("succeeded");
      expect(await farm.log(id, "private")).toContain("private\n");
      const image = (await imageOfRun(id, "private")) ?? "";
      expect(image).toBe(`docker://${closed.host}/tests/tools@${imageOf("private").digest}`);
      for (const text of [password, base64(`${user}:${password}`)])
        expect(filesWith(farm.dataDir, text)).toEqual([]);

      // The worker has the image, and another project knows its digest.
      const client = foreignClient(farm.url);
      try {
        const properties = [
          { name: "container-image", value: image },
          { name: "runner", value: "root" },
        ];
        const other = buildTool(client, { instanceName: "other" });
        await expect(
          other.run({ script: "cat /etc/version", action: { platform: { properties } } }),
        ).rejects.toThrow("requires a user and a password");
        const own = await buildTool(client).run({
          script: "cat /etc/version",
          action: { platform: { properties } },
        });
        expect(textOf(own.result.stdoutRaw)).toBe("private\n");
      } finally {
        client.close();
      }
    });

    test(
      "a job builds an image without root and daemon, another pushes it with a secret, and a third one runs in it",
      needs(imageTools),
      async () => {
        await pushImage(registry.origin, "tests/tools", "base", first);
        await setLogin("REGISTRY_LOGIN", "default");
        await setLogin("PUSH_LOGIN", repository.path.split("/").at(-1) ?? "");

        const { id } = await submit("built");

        expect((await farm.untilOver(id)).state).toBe("succeeded");
        expect(await farm.log(id, "built")).toContain("built\n");
        expect(await farm.log(id, "push")).not.toContain(registryUser.password);
      },
    );
  },
);

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

/** Returns the files below a directory that contain a text. */
function filesWith(directory: string, text: string): string[] {
  const found = spawnSync("grep", ["-rlF", "--", text, directory], { encoding: "utf8" });
  return found.stdout.split("\n").filter((path) => path !== "");
}
