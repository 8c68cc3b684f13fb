import { buildImage, pushImage, tarOf } from "#images/image-builder.fixture.ts";
import { DigestFunction_Value } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { buildTool } from "../../../test/build-tools/conformance/build-tool.ts";
import { foreignClient } from "../../../test/build-tools/conformance/foreign-client.ts";
import { registryNeed, startDockerRegistry } from "../../../test/support/docker-registry.ts";
import { startFarm } from "../../../test/support/farm.ts";
import { requireNeeds } from "../require-needs.ts";
import { exactly, forInformation, type Measurement } from "../row.ts";
import { busyboxFiles } from "./busybox-files.ts";
import {
  anyDigest,
  type PlatformSettings,
  platformSettings,
  publicRegistries,
} from "./platform-settings.ts";

/** The result for one project's settings. */
type Tried =
  | { readonly kind: "ran" }
  | { readonly kind: "explained" }
  | { readonly kind: "wrong"; readonly why: string };

/** Settings of public projects, against a farm with one ordinary worker. */
export const publicPlatforms: Measurement = {
  title: "settings of 40 public platform definitions",
  long: false,
  async measure() {
    requireNeeds([registryNeed]);
    const registry = await startDockerRegistry();
    const image = buildImage([tarOf(busyboxFiles(["true"]))], { Env: ["PATH=/bin"] });
    const farm = await startFarm({
      workers: 0,
      env: {
        GRANGE_PRIVATE_HOSTS: "127.0.0.1",
        // The documented aliases.
        GRANGE_PLATFORM_ALIASES: "Arch:amd64=ISA:x86-64,Arch:arm64=ISA:aarch64",
        GRANGE_UNSERVED_MS: "2000",
      },
    });
    const client = foreignClient(farm.url);
    try {
      for (const { repository, tag } of imagesOf(platformSettings)) {
        await pushImage(registry.origin, repository, tag, image);
      }
      farm.startWorker({
        env: {
          GRANGE_PRIVATE_HOSTS: "127.0.0.1",
          GRANGE_WORKER_PLATFORM: "Pool=default",
          GRANGE_WORKER_REGISTRIES: publicRegistries
            .map((host) => `${host}=${registry.origin}`)
            .join(","),
        },
      });
      const tried: { readonly settings: PlatformSettings; readonly was: Tried }[] = [];
      for (const settings of platformSettings) {
        tried.push({ settings, was: await tryOut(client, settings, image.digest) });
      }
      const wrong = tried.flatMap(({ settings, was }) =>
        was.kind === "wrong" ? [`${settings.of}: ${was.why}`] : [],
      );
      const count = (kind: Tried["kind"]) => tried.filter(({ was }) => was.kind === kind).length;
      return [
        exactly(
          "platform settings of public projects: run unchanged, or the message names what is missing",
          tried.length - wrong.length,
          tried.length,
          "of 40",
          wrong.length === 0
            ? "executed by a farm with one worker with Pool=default and the two documented aliases; images come from a mirror"
            : wrong.join("; "),
        ),
        forInformation(
          "platform settings of public projects: run unchanged",
          count("ran"),
          "of 40",
          `${count("explained")} others ask for other machines, for privileges, or for a virtual machine`,
        ),
      ];
    } finally {
      client.close();
      await farm.stop();
      await registry.stop();
    }
  },
};

async function tryOut(
  client: ReturnType<typeof foreignClient>,
  settings: PlatformSettings,
  digest: string,
): Promise<Tried> {
  const { instanceName = "", digestFunction = "SHA256", priority = 0, refused } = settings;
  const tool = buildTool(client, {
    instanceName,
    digestFunction: DigestFunction_Value[digestFunction],
  });
  const properties = Object.entries(settings.platform).map(([name, value]) => ({
    name,
    value: value.replace(anyDigest, `@${digest}`),
  }));
  let message: string;
  try {
    const { result } = await tool.run(
      { script: "true", action: { platform: { properties } } },
      { executionPolicy: { priority } },
    );
    if (result.exitCode === 0 && refused === undefined) return { kind: "ran" };
    message = `it ended with exit code ${result.exitCode}`;
  } catch (reason) {
    message = reason instanceof Error ? reason.message : String(reason);
  }
  return refused !== undefined && message.includes(refused)
    ? { kind: "explained" }
    : { kind: "wrong", why: message };
}

/** Returns the repositories and tags under which the mirror must have the image. */
function imagesOf(all: readonly PlatformSettings[]) {
  const names = all.flatMap(({ platform }) => platform["container-image"] ?? []);
  const found = [...new Set(names)].filter((name) => name !== "none");
  return found.map((name) => {
    const path = name.replace("docker://", "").split("/").slice(1).join("/");
    const [repository = "", tag = "v1"] = path.replace(anyDigest, "").split(":");
    return { repository, tag };
  });
}
