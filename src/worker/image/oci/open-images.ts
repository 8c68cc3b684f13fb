import { messageOf } from "#core/fault.ts";
import { memorySizeText } from "#core/memory-size.ts";
import { RegistryClient } from "#images/registry-client.ts";
import type { RegistryLogin } from "#images/registry-login.ts";
import { parseRegistries, readCredentials } from "#images/registry-settings.ts";
import { readSignaturePolicy } from "#images/signature-policy.ts";
import { guardedFetch } from "#outgoing/guarded-fetch.ts";
import { type HostPrograms, openHostPrograms } from "../../sandbox/host-programs.ts";
import type { ImageOfCommand, Sandbox } from "../../sandbox/sandbox.ts";
import { toolPath } from "../../tool-path.ts";
import type { ViewStep } from "../image-provider.ts";
import { ImageStore, type OpenImage } from "./image-store.ts";

const gibibyte = 1024 ** 3;

/** Larger images are refused: a hostile one must not fill the disk. */
const mostImageBytes = 32 * gibibyte;
const mostLayerEntries = 500_000;

/** An image that a command can run in. */
export interface ImageToRun
  extends ImageOfCommand,
    Pick<
      OpenImage,
      "digest" | "root" | "environment" | "service" | "pulledMs" | "release" | "retain"
    > {}

/** Container images of this machine. */
export interface Images {
  open(reference: string, logins?: readonly RegistryLogin[]): Promise<ImageToRun>;
  trim(nowMs: number): Promise<void>;
  /** Returns the images on the disk, by `imageKeyOf`, those used last first. */
  keys(): Promise<readonly string[]>;
}

interface ImageSettings {
  readonly registries: string;
  readonly registryAuth?: string | undefined;
  /** Which images must have a signature, as `readSignaturePolicy` reads it. */
  readonly imageKeys: string;
  readonly privateHosts: readonly string[];
  readonly imageBytes: number;
  /** The PATH of jobs. */
  readonly path: string;
}

interface ImageParts {
  readonly sandbox: Sandbox;
  readonly stepsInImages: readonly ViewStep[];
  readonly directory: string;
  readonly runDir: string;
}

/**
 * Opens the images of this machine. `text` says for people whether there are any, and what is missing.
 *
 * Throws for settings that are wrong, but not for a machine that lacks something.
 */
export async function openImages(
  settings: ImageSettings,
  { sandbox, stepsInImages, directory, runDir }: ImageParts,
): Promise<{ readonly images: Images | undefined; readonly text: string }> {
  const registries = parseRegistries(settings.registries);
  if (registries.length === 0)
    return { images: undefined, text: "none: no registry is allowed (GRANGE_WORKER_REGISTRIES)" };
  const credentials =
    settings.registryAuth === undefined ? new Map() : readCredentials(settings.registryAuth);
  const policy = await readSignaturePolicy(settings.imageKeys);
  if (!sandbox.runsImages)
    return {
      images: undefined,
      text: `none: the sandbox "${sandbox.kind}" runs no images; install bubblewrap`,
    };
  let programs: HostPrograms;
  try {
    programs = await openHostPrograms(runDir, toolPath(settings.path));
  } catch (reason) {
    return {
      images: undefined,
      text: `none: the programs that start a command in an image are missing (${messageOf(reason).split("\n")[0]}); install util-linux and coreutils`,
    };
  }
  const client = new RegistryClient({
    registries,
    credentials,
    fetch: guardedFetch(() => settings.privateHosts),
    architecture: process.arch,
  });
  const limits = {
    bytes: Math.min(mostImageBytes, settings.imageBytes),
    entries: mostLayerEntries,
    storeBytes: settings.imageBytes,
  };
  const store = await ImageStore.open(directory, client, limits, policy);
  return {
    text: `run; registries: ${registries.map(({ host }) => host).join(", ")}; ${await standingText(store, settings.imageBytes)}`,
    images: {
      trim: (nowMs) => store.trim(nowMs),
      keys: () => store.keys(),
      async open(reference, logins) {
        const image = await store.use(reference, logins);
        return {
          ...image,
          programs,
          view: [
            { kind: "show", path: "/", from: image.root },
            { kind: "show", path: "/sys", from: "/sys" },
            { kind: "empty", path: "/run" },
            { kind: "empty", path: "/var/tmp" },
            ...programs.view,
            ...stepsInImages,
          ],
        };
      },
    },
  };
}

async function standingText(store: ImageStore, most: number): Promise<string> {
  const { images, bytes } = await store.standing();
  const count = images === 1 ? "1 image" : `${images} images`;
  return `${count}, ${memorySizeText(bytes)} of ${memorySizeText(most)}`;
}
